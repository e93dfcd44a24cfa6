"""Writes the models that the package ships anew: `python -m listwright.lab.shipped_models`."""

from listwright.lab.simulate.corpus import corpus
from listwright.storage import save
from listwright.summarize.model import SHIPPED, summary_model

N_CLUSTERS = 120

if __name__ == "__main__":
    save(summary_model(corpus(N_CLUSTERS)), SHIPPED, slim=True)
    print(f"Wrote {SHIPPED.name}, {SHIPPED.stat().st_size:,} bytes.")
