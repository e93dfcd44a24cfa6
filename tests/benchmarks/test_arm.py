"""The simulated arm: its kinematics, its optimiser, and how the shipped data come from them."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw

SPHERE = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0, 0.0, 0.25])
BOX = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.0, 1.0, 0.0])  # turned by a right angle: 0.2 along x, 0.1 along y


@pytest.fixture
def arm(benchmarks):
    from benchmarks.paper import arm

    return arm


@pytest.fixture
def chomp(benchmarks):
    from benchmarks.paper import chomp

    return chomp


@pytest.fixture
def data(chomp):
    return chomp.load()


@pytest.fixture
def obstacles(arm):
    return arm.random_obstacles(np.random.default_rng(3))


def hand(chomp, *angles):
    return chomp.path_frames(np.array([angles]))[0, 7, :, 3]


@pytest.mark.parametrize(
    ("angles", "expected"),
    [
        ((0, 0, 0, 0, 0, 0, 0), (0, 0, 0.91)),  # straight up: 0.55 + 0.3 + 0.06
        ((0, np.pi / 2, 0, 0, 0, 0, 0), (0.91, 0, 0)),  # the whole arm leans forward
        ((np.pi / 2, np.pi / 2, 0, 0, 0, 0, 0), (0, 0.91, 0)),  # and turns to the left
        ((0, 0, 0, np.pi / 2, 0, 0, 0), (0.045 + 0.36, 0, 0.55 + 0.045)),  # the elbow bends about its offset axis
        ((0, 0, 0, 0, 0, np.pi / 2, 0), (0.06, 0, 0.85)),  # only the wrist bends
    ],
)
def test_hand_is_where_a_ruler_puts_it(angles, expected, chomp):
    np.testing.assert_allclose(hand(chomp, *angles), expected, atol=1e-12)


def test_body_spheres_stay_on_the_links(arm, chomp):
    first, second = chomp.body(np.array([arm.START, arm.GOAL]))
    np.testing.assert_allclose(first[:, 3], second[:, 3])
    for part in (slice(0, 3), slice(3, 7), slice(7, 12)):  # within a rigid part, distances do not depend on the pose
        np.testing.assert_allclose(spacing(first[part, :3]), spacing(second[part, :3]))
    np.testing.assert_allclose(second[-2:, :3].mean(axis=0), arm.target())


def spacing(points):
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    ("point", "obstacle", "expected"),
    [
        ((0.1, 0.2, 1.3), SPHERE, 0.75),
        ((0.1, 0.2, 0.4), SPHERE, -0.15),
        ((0.5, 0.0, 0.0), BOX, 0.3),
        ((0.0, 0.5, 0.0), BOX, 0.4),
        ((0.5, 0.5, 0.0), BOX, 0.5),
        ((0.0, 0.05, 0.1), BOX, -0.05),
    ],
)
def test_distance_to_an_obstacle(point, obstacle, expected, chomp):
    assert chomp.distance(np.array(point), obstacle) == pytest.approx(expected)


@pytest.mark.parametrize("obstacle", [SPHERE, BOX, np.array([0.1, 0.0, 0.2, 0.1, 0.2, 0.3, 0.6, 0.8, 0.05])])
def test_away_is_the_slope_of_distance(obstacle, chomp):
    for point in np.random.default_rng(0).uniform(-0.6, 0.6, (20, 3)):
        direction = np.empty(3)
        chomp.away(point, obstacle, direction)
        np.testing.assert_allclose(direction, slopes(lambda p: chomp.distance(p, obstacle), point), atol=1e-6)


def test_gradient_of_the_obstacle_cost(obstacles, arm, chomp):
    path = arm.seed_paths()[4][::3].copy()
    cost, gradient = chomp.obstacle_cost_and_gradient(path, obstacles)
    assert cost > 0
    np.testing.assert_allclose(
        gradient, slopes(lambda p: chomp.obstacle_cost_and_gradient(p, obstacles)[0], path), rtol=1e-4, atol=1e-6
    )


def slopes(function, at, step=1e-6):
    """Central differences."""
    out = np.empty(at.shape)
    for index in np.ndindex(at.shape):
        bump = np.zeros(at.shape)
        bump[index] = step
        out[index] = (function(at + bump) - function(at - bump)) / (2 * step)
    return out


def test_spread_inverts_the_smoothness_metric(chomp):
    steps = 6
    metric = steps * (2 * np.eye(steps - 1) - np.eye(steps - 1, k=1) - np.eye(steps - 1, k=-1))
    gradient = np.random.default_rng(0).normal(size=(steps + 1, 7))
    moved = chomp.spread(gradient)
    np.testing.assert_allclose(metric @ moved[1:-1], gradient[1:-1])
    assert not moved[[0, -1]].any()


def total_cost(chomp, path, obstacles):
    smoothness = 0.5 * (len(path) - 1) * (np.diff(path, axis=0) ** 2).sum()
    return chomp.SMOOTHNESS * smoothness + chomp.obstacle_cost_and_gradient(path, obstacles)[0]


def test_optimiser_lowers_the_cost_and_keeps_ends_and_limits(obstacles, arm, chomp):
    for seed in arm.seed_paths()[::6]:
        path = chomp.optimise(seed, obstacles)
        assert total_cost(chomp, path, obstacles) < total_cost(chomp, seed, obstacles)
        np.testing.assert_array_equal(path[[0, -1]], seed[[0, -1]])
        assert ((path >= chomp.LOWER) & (path <= chomp.UPPER)).all()


def test_without_obstacles_near_the_optimiser_goes_towards_the_straight_line(arm, chomp):
    far = SPHERE + np.array([50.0, 0, 0, 0, 0, 0, 0, 0, 0])
    line, bent = arm.seed_paths()[0], arm.seed_paths()[5]
    path = chomp.optimise(bent, far[None], 20)
    np.testing.assert_allclose(path - line, (1 - chomp.SMOOTHNESS) ** 20 * (bent - line), atol=1e-6)
    assert arm.is_free(path, far[None])


def test_obstacles_leave_start_and_goal_free(obstacles, arm):
    assert arm.is_free(np.array([arm.START, arm.START]), obstacles)
    assert arm.is_free(np.array([arm.GOAL, arm.GOAL]), obstacles)


def test_generate_gives_the_first_shipped_environments(data, arm):
    again = arm.generate(4)
    np.testing.assert_array_equal(again.success, data.success[:4])
    np.testing.assert_array_equal(again.obstacle_offsets, data.obstacle_offsets[:5])
    np.testing.assert_allclose(again.obstacles, data.obstacles[: data.obstacle_offsets[4]], rtol=1e-6)
    np.testing.assert_allclose(again.features, data.features[:4], atol=1e-5)
    np.testing.assert_allclose(again.seeds, data.seeds, atol=1e-6)


def test_generate_is_deterministic_and_follows_its_seed(arm):
    first, again, other = arm.generate(3), arm.generate(3), arm.generate(3, seed=1)
    for name in ("features", "success", "obstacles", "obstacle_offsets", "seeds"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    np.testing.assert_array_equal(first.seeds, other.seeds)
    assert not np.array_equal(first.features, other.features)


def test_stored_geometry_gives_the_stored_outcomes(data, arm):
    for index in (100, 521):
        scene = data.environment(index).astype(np.float64)
        np.testing.assert_array_equal(arm.outcomes(data.seeds.astype(np.float64), scene), data.success[index])
    assert arm.is_free(data.optimise(100, int(data.success[100].argmax())), data.environment(100).astype(np.float64))


def test_generate_wants_at_least_one_environment(arm):
    with pytest.raises(lw.errors.InputError, match=r"n_environments must be at least 1\. Got 0\."):
        arm.generate(0)
