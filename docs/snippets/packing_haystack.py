from haystack import Document

from listwright.integrations.haystack import ListwrightRanker

texts = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields.",
    "Alien is a film by Ridley Scott.",
]
documents = [Document(content=text) for text in texts]
ranker = ListwrightRanker(budget=30)
kept = ranker.run("Where was the director of Alien born?", documents)["documents"]
print([document.content for document in kept])
