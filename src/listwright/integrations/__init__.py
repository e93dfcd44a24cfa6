"""Adapters that pack contexts inside other retrieval pipelines.

Each module wraps `listwright.context.ContextPacker` in the component type of one framework: `langchain` (a document
compressor), `llama_index` (a node postprocessor) and `haystack` (a ranker). Import the module of the framework that is
installed; nothing here imports them all.
"""
