from langchain_core.documents import Document

from listwright.integrations.langchain import ListwrightCompressor

texts = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields.",
    "Alien is a film by Ridley Scott.",
]
documents = [Document(page_content=text, metadata={"source": "wiki"}) for text in texts]
compressor = ListwrightCompressor(budget=30)
for document in compressor.compress_documents(
    documents, "Where was the director of Alien born?"
):
    print(document.page_content, "#", document.metadata["listwright_reason"])
