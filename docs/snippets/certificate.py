# [start:run]
import pyarrow as pa

import listwright as lw
from listwright.simulate import readers

# 2,000 made-up readers: independent draws
table = pa.table(readers.table(2000, random_state=0))
visits = lw.Problems.from_frame(table, reward="any:clicked")

model = lw.SCP(length=3, effort="fast", random_state=0).fit(visits[:1500])
certificate = model.certify(visits[1500:], rivals=["top_k", "mmr"])
print(certificate)
# [end:run]

# [start:numbers]
print(f"value {certificate.value:.3f}, seen {certificate.mean:.3f}")
print(f"share of greedy {certificate.share_of_greedy:.3f}")
print({name: round(bound, 3) for name, bound in certificate.ahead_of.items()})
# [end:numbers]

# [start:fit]
model = lw.SCP(length=3, effort="fast", random_state=0).fit(visits, certify=0.2)
print(model.certified_)
# [end:fit]

# [start:online]
features = lw.features.Candidate(standardize=False) + lw.features.Distance(standardize=False)
online = lw.SCP(
    length=3, features=features, n_passes=1, batch_size=1, keep="mixture", random_state=0
)
print(online.fit(visits).online_certificate())
# [end:online]

# [start:none]
print(model.online_certificate())  # ten passes: the fast default
# [end:none]

# [start:how_many]
print(f"{lw.guarantees.rounds_for(0.1, n_policies=30, length=5):,}")
# [end:how_many]
