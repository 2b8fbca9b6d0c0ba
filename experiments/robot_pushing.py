"""Robot pushing: a hand pushes a disc on a table, as near to a goal as it can.

The task of Wang and Jegelka (2017) that "Practical Bayesian optimisation for hyperparameter tuning"
(Alvi 2019, nrobot-4) and "Modulating surrogates for Bayesian optimization" (Bodin et al. 2020)
search: the hand's place and angle and how long it pushes, by the distance of the disc to the goal
at the end. The planar world is that of Box2D, which comes with the extra `peers`. Without noise of
the hand's velocity, so that a push has one result.
"""

from __future__ import annotations

__all__ = ["Push", "goal_of", "robot_pushing"]

import warnings
from dataclasses import dataclass
from math import hypot, pi
from typing import Any

import numpy as np

from outcrop.problems import Problem
from outcrop.space import Float, Space
from outcrop.typing import Params

GOALS = 104  # keeps the stream of goals apart from those of a search
REACH = 5.0  # of places and goals, either side of the disc's first place
SPEED = 10.0  # that the hand is driven to, towards the disc's first place
GAIN = 30.0  # force per mass and missing velocity
STEP, ITERATIONS, PER_SECOND = 0.01, 10, 10  # of the solver; steps of a push per unit of duration
FREE_STEPS = 100  # after the push


def goal_of(run: int) -> tuple[float, float]:
    """The goal of a run, drawn uniformly."""
    x, y = np.random.default_rng([run, GOALS]).uniform(-REACH, REACH, 2)
    return float(x), float(y)


def robot_pushing(run: int = 0) -> Problem:
    """The task with the goal of a run, which all methods of the run share.

    The smallest distance depends on the goal and is not known; zero, its bound, stands for it.
    """
    return Problem(
        name="robot-pushing",
        space=Space(
            {
                "x": Float(-REACH, REACH),
                "y": Float(-REACH, REACH),
                "duration": Float(1.0, 30.0),
                "angle": Float(0.0, 2 * pi),
            }
        ),
        function=Push(goal_of(run)),
        minimum=0.0,
        tags=("simulated",),
        source="Wang and Jegelka 2017",
    )


@dataclass(frozen=True)
class Push:
    """How far from `goal` a push leaves the disc, which was at the origin."""

    goal: tuple[float, float]

    def __call__(self, params: Params) -> float:
        x, y = self.end(params)
        return hypot(x - self.goal[0], y - self.goal[1])

    def end(self, params: Params) -> tuple[float, float]:
        """Where the disc is at the end."""
        world, disc, hand = _world(params["x"], params["y"], params["angle"])
        distance = hypot(params["x"], params["y"])
        # A hand that begins at the disc's centre has no direction to push in.
        vx, vy = (-SPEED * params[axis] / distance if distance else 0.0 for axis in "xy")
        steps = int(PER_SECOND * params["duration"])
        for step in range(steps + FREE_STEPS):
            if step < steps:
                velocity, gain = hand.linearVelocity, GAIN * hand.mass
                force = gain * (vx - velocity[0]), gain * (vy - velocity[1])
                hand.ApplyForce(force, hand.position, wake=True)
                hand.ApplyTorque(-gain * hand.angularVelocity, wake=True)
            world.Step(STEP, ITERATIONS, ITERATIONS)
            world.ClearForces()
        return float(disc.position[0]), float(disc.position[1])


def _world(x: float, y: float, angle: float) -> tuple[Any, Any, Any]:
    """A table seen from above, a disc at the origin and a hand; both slide with friction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its types have no module, which is deprecated
        import Box2D

    world = Box2D.b2World(gravity=(0, 0), doSleep=True)
    table = world.CreateStaticBody(shapes=Box2D.b2PolygonShape(box=(500, 500)))
    round_shape = Box2D.b2CircleShape(radius=1)
    flat_shape = Box2D.b2PolygonShape(box=(0.3, 1))
    disc = world.CreateDynamicBody(
        fixtures=Box2D.b2FixtureDef(shape=round_shape, density=0.05, friction=0.01)
    )
    hand = world.CreateDynamicBody(
        position=(x, y),
        angle=angle,
        fixtures=Box2D.b2FixtureDef(shape=flat_shape, density=0.1, friction=0.1),
    )
    for body, most in ((disc, 5), (hand, 2)):
        # The joint also keeps a body from colliding with the table that it lies on.
        world.CreateFrictionJoint(bodyA=table, bodyB=body, maxForce=most, maxTorque=2)
    return world, disc, hand
