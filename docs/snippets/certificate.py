# --8<-- [start:run]
import pyarrow as pa

import listwright as lw
from listwright.simulate import readers

# 2,000 made-up readers: independent draws, each seen once
table = pa.table(readers.table(2000, random_state=0))
visits = lw.Problems.from_frame(table, reward="any:clicked")

model = lw.SCP(length=3, n_passes=1, batch_size=1, keep="mixture", random_state=0).fit(visits)
certificate = model.certificate(delta=0.05)
print(certificate)
# --8<-- [end:run]

# --8<-- [start:numbers]
seen, least = certificate.value_seen, certificate.lower_bound_on_value
print(f"ratio {certificate.approximation_ratio:.3f}, rounds {certificate.rounds:,}")
print(f"value seen {seen:.3f}, worth at least {least:.3f}")
regret, chance = certificate.regret_bound_used, certificate.confidence_term
print(f"regret at most {regret:.3f}, chance {chance:.3f}")
# --8<-- [end:numbers]

# --8<-- [start:none]
usual = lw.SCP(length=3, random_state=0).fit(visits)  # ten passes: the fast default
print(usual.certificate())
# --8<-- [end:none]

# --8<-- [start:how_many]
print(f"{lw.guarantees.rounds_for(0.1, n_policies=30, length=5):,}")
# --8<-- [end:how_many]
