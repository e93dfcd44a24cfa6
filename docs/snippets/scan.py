# [start:scan]
import pyarrow as pa
from pyarrow import parquet

import listwright as lw
from listwright.simulate import readers

parquet.write_table(pa.table(readers.table(200, random_state=0)), "past.parquet")
parquet.write_table(
    pa.table(readers.table(50, first=200, clicks=False, random_state=1)), "new.parquet"
)

data = lw.scan("past.parquet", reward="any:clicked", max_memory="1GB")
model = lw.SCP(length=3, effort="fast", random_state=0).fit(data, checkpoint="run.listwright")
model.predict(lw.scan("new.parquet")).to_parquet("lists.parquet")
print(data)
print(parquet.read_table("lists.parquet").column_names)
# [end:scan]
