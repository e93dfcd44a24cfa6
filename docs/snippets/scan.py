# --8<-- [start:scan]
import pyarrow as pa
from pyarrow import parquet

import listwright as lw
from listwright.simulate import readers

parquet.write_table(pa.table(readers.table(200, random_state=0)), "past.parquet")
parquet.write_table(pa.table(readers.table(50, first=200, clicks=False, random_state=1)), "new.parquet")

data = lw.scan("past.parquet", reward="any:clicked", max_memory="1GB")
print(f"{len(data)} problems, {data.n_rows} rows, never all in memory")
model = lw.SCP(length=3, random_state=0).fit(data, checkpoint="run.listwright")
model.predict(lw.scan("new.parquet")).to_parquet("lists.parquet")
print(parquet.read_table("lists.parquet").column_names)
# --8<-- [end:scan]
