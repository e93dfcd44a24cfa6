from llama_index.core.schema import NodeWithScore, TextNode

from listwright.integrations.llama_index import ListwrightPostprocessor

texts = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields.",
    "Alien is a film by Ridley Scott.",
]
nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]
kept = ListwrightPostprocessor(budget=30).postprocess_nodes(
    nodes, query_str="Where was the director of Alien born?"
)
print([scored.node.get_content() for scored in kept])
