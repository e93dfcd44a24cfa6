"""Context packing inside other people's pipelines: LangChain, LlamaIndex and Haystack."""
