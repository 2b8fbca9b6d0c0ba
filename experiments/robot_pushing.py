"""Robot pushing: a hand pushes a disc on a table, and the disc should come to rest at a goal.

The task of Wang & Jegelka 2017 in its form with four numbers: where the hand starts, how it is
turned, and for how long it pushes. It needs the simulator Box2D (the package `box2d`). Units are
those of the simulator: lengths of the order of metres, seconds.
"""

from __future__ import annotations

__all__ = ["goal_of", "robot_pushing"]

from dataclasses import dataclass
from math import hypot, pi

import numpy as np

from outcrop.problems import Problem
from outcrop.space import Float, Space
from outcrop.typing import Params

REACH = 5.0  # bound of both coordinates of the hand's start and of the goal
SPEED = 10.0
STEP, ITERATIONS = 0.01, 10  # of the simulator
PER_TIME = 10  # steps for each unit of the parameter `time`
AFTERWARDS = 100  # steps without a push
GAIN = 30.0  # of the force and the torque that keep the hand at its velocity
TABLE = 500.0
GOALS = 204  # keeps the stream of goals apart from that of a search


def robot_pushing(goal: tuple[float, float] | None = None) -> Problem:
    """The distance between disc and goal after a push, without noise.

    Without a goal it is that of run 0. The distance 0 counts as the minimum; whether it can be
    reached exactly depends on the goal.
    """
    space = Space(
        {
            "x": Float(-REACH, REACH),
            "y": Float(-REACH, REACH),
            "time": Float(1.0, 30.0),
            "angle": Float(0.0, 2 * pi),
        }
    )
    return Problem(
        name="robot-pushing",
        space=space,
        function=Push(goal or goal_of(0)),
        minimum=0.0,
        tags=("simulated",),
        source="Wang & Jegelka 2017; modulated surrogates, Table 1",
    )


def goal_of(run: int) -> tuple[float, float]:
    """The goal that all searches of a run have, drawn from a square around the disc."""
    x, y = np.random.default_rng([run, GOALS]).uniform(-REACH, REACH, 2).tolist()
    return x, y


@dataclass(frozen=True)
class Push:
    """The distance to `goal` at which the disc ends."""

    goal: tuple[float, float]

    def __call__(self, params: Params) -> float:
        x, y = pushed(params["x"], params["y"], params["time"], params["angle"])
        return hypot(x - self.goal[0], y - self.goal[1])


def pushed(x: float, y: float, time: float, angle: float) -> tuple[float, float]:
    """Where the disc ends that was at the origin, if the hand starts at x, y and moves towards it.

    Disc and hand rub on the table by joints of limited force. A force of the hand is proportional
    to what its velocity lacks.
    """
    from Box2D import b2CircleShape, b2FixtureDef, b2PolygonShape, b2World

    world = b2World(gravity=(0.0, 0.0), doSleep=True)
    table = world.CreateStaticBody(shapes=b2PolygonShape(box=(TABLE, TABLE)))
    disc = world.CreateDynamicBody(
        fixtures=b2FixtureDef(shape=b2CircleShape(radius=1.0), density=0.05, friction=0.01)
    )
    hand = world.CreateDynamicBody(
        position=(x, y),
        angle=angle,
        fixtures=b2FixtureDef(shape=b2PolygonShape(box=(0.3, 1.0)), density=0.1, friction=0.1),
    )
    world.CreateFrictionJoint(bodyA=table, bodyB=disc, maxForce=5.0, maxTorque=2.0)
    world.CreateFrictionJoint(bodyA=table, bodyB=hand, maxForce=2.0, maxTorque=2.0)
    distance = hypot(x, y) or 1.0  # a hand that starts at the disc does not move
    velocity = np.array([-SPEED * x / distance, -SPEED * y / distance])
    pushes = int(PER_TIME * time)
    for step in range(pushes + AFTERWARDS):
        if step < pushes:
            force = GAIN * hand.mass * (velocity - np.array(hand.linearVelocity))
            hand.ApplyForce(tuple(force.tolist()), hand.position, wake=True)
            hand.ApplyTorque(-GAIN * hand.mass * hand.angularVelocity, wake=True)
        world.Step(STEP, ITERATIONS, ITERATIONS)
    return float(disc.position[0]), float(disc.position[1])
