"""Read frames and tables with one row per candidate into plain arrays and rewards, below `Problems`.

`table` holds the common form of every input, `columns` decides the role of each column, `values` and `arrays` check
cells and stack them, `reward_text` and `rewards` make rewards out of lines such as `"any:clicked"`, and `frame` puts
the arguments of `Problems.from_arrays` together. `listwright.tables` adds files.
"""
