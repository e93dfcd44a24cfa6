# %% [markdown]
# # A prompt from a question and passages, with reasons

# %%
import listwright as lw

question = "Where was the director of Alien born?"
passages = [
    "Alien is a science fiction film of 1979, directed by Ridley Scott.",
    "Aliens is a film of 1986, directed by James Cameron.",
    "South Shields is a town at the mouth of the River Tyne.",
    "Ridley Scott was born in South Shields in 1937.",
    "The film Gladiator was released in 2000.",
]
packed = lw.ContextPacker().pack(question, passages, budget=45)
for text, reason in zip(packed.texts, packed.reasons, strict=True):
    print(f"{text}\n    {reason}")
print(f"\n{packed.text(order='edges')}\n\nQuestion: {question}")
