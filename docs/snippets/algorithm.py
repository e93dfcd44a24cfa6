# [start:setup]
import numpy as np

import listwright as lw
from listwright.learners import Examples, RidgeFTRL, hinge_rank, position_weights

rng = np.random.default_rng(0)
success = rng.random((6, 4)) < 0.4
problems = lw.Problems.from_arrays(rng.random((6, 4, 2)), reward=lw.rewards.AnySuccess(success))
# [end:setup]

# [start:folds]
reward = problems.reward
reward_state = reward.start(problems)  # empty lists
before = reward.gains(reward_state)  # b(s | L) of every row
# one row per problem: its second candidate
reward_state = reward.add(reward_state, np.array([1, 5, 9, 13, 17, 21]))
print(before[:4], reward.gains(reward_state)[:4], reward.value(reward_state)[0])
# [end:folds]

# [start:weights]
print(position_weights(5, comparator_length=5).round(3))
# [end:weights]

# [start:round]
plain = {"standardize": False}  # nothing is known of states that have not come yet
view = lw.features.Candidate(**plain) + lw.features.Distance(**plain) + lw.features.Position()
features = view.fit(problems[:1])
learner = RidgeFTRL(penalty=1.0, center=False, target="cost")  # the paper's printed loss
policy, weights = learner.first_policy(), position_weights(3)

for state in problems:  # t = 1 ... T
    seen, reward_state = features.start(state), state.reward.start(state)
    untaken = np.ones(state.n_rows, dtype=bool)
    for i in range(3):  # the list L_t, item by item: no reward in sight
        rows = features.rows(seen)
        picks, _ = policy.pick(rows, untaken, i, rng)
        example = Examples(
            rows=rows,  # v: what the policy sees of the state and the list so far
            gains=state.reward.gains(reward_state),  # c(s) = max b - b(s) follows from these
            weight=weights[i],  # w = (1 - 1/k)^(m - i)
            position=i,
            options=np.ones(state.n_rows, dtype=bool),
            picks=picks,
            learned=np.array([True]),
        )
        learner.learn(example)
        seen, reward_state = features.add(seen, picks), state.reward.add(reward_state, picks)
        untaken[picks] = False
    policy = learner.policy()  # Update: the policy of the next round
# [end:round]

# [start:same]
paper = RidgeFTRL(penalty=1.0, center=False, target="cost")
model = lw.SCP(3, features=view, learner=paper, n_passes=1, batch_size=1, random_state=0)
print(np.array_equal(model.fit(problems).policy_.weights, policy.weights))
# [end:same]

# [start:ranking]
costs = np.array([0.0, 1.0])  # the first item is the better one
for scores in ([1.0, 0.0], [0.0, 1.0]):
    loss, _ = hinge_rank(scores, costs, [0, 2])
    delta = costs[0] - costs[1]
    printed = abs(delta) * max(0.0, 1.0 - (scores[0] - scores[1]) * np.sign(delta))
    print(f"scores {scores}: here {loss[0]:.0f}, as printed {printed:.0f}")
# [end:ranking]

# [start:regret]
for rounds in (1_000, 10_000, 100_000):
    bound = lw.guarantees.regret_bound(rounds, n_policies=30, length=5)
    print(f"{rounds:>7,} states: average regret at most {bound:.3f}")
# [end:regret]
