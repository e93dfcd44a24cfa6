# [start:pack]
import listwright as lw

question = "Where was the director of Alien born?"
passages = [
    "South Shields is a town at the mouth of the river Tyne.",
    "Ridley Scott was born in South Shields in 1937.",
    "Alien is a film of 1979, directed by Ridley Scott.",
    "Aliens is a film of 1986, directed by James Cameron.",
]
packed = lw.ContextPacker().pack(question, passages, budget=45)
for text, reason in zip(packed.texts, packed.reasons, strict=True):
    print(f"{text}  # {reason}")
# [end:pack]

# [start:given]
packed = lw.ContextPacker(tokens=len).pack(  # a function of a text, or a tokenizer with .encode
    question,
    passages,
    budget=200,  # characters, as len counts them
    titles=["South Shields", "Ridley Scott", "Alien (film)", "Aliens (film)"],
    sources=["towns", "people", "films", "films"],
    per_source=1,
    scores=[0.1, 0.4, 0.9, 0.8],  # of a retriever or reranker
)
print(packed.positions, packed.tokens)
print(packed.text(order="document"))
# [end:given]

# [start:learn]
records = [
    {
        "query": f"Which ship did captain {name} lead?",
        "passages": [
            f"Captain {name} liked tea.",
            f"The ship of {name} was the {ship}.",
            "Tides rise.",
        ],
        "cited": [1],
    }
    for name, ship in [("Ada", "Swan"), ("Bo", "Lark"), ("Cy", "Crane"), ("Di", "Heron")] * 10
]
packer = lw.ContextPacker().fit(records[:30], cited="cited")
packer.save("packer.listwright")
print(packer.score(records[30:], cited="cited", length=1))
# [end:learn]
