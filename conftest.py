"""Which modules pytest leaves alone: those that need an extra which is not installed."""

from importlib.util import find_spec

NEEDS = {
    "selection/gpu/kernels": "torch",
    "selection/gpu/objectives": "torch",
    "integrations/haystack": "haystack",
    "integrations/langchain": "langchain_core",
    "integrations/llama_index": "llama_index",
}
collect_ignore = [f"src/listwright/{module}.py" for module, package in NEEDS.items() if find_spec(package) is None]
