"""What the diagnostics of a run are called and what they mean: one table, for all agents that fasturl brings.

An agent hands over its diagnostics by name, and the judge of its final policy adds some. The reference is
written from this table; an agent of a user's may have other diagnostics.
"""

from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One entry of the diagnostics of a run.

    agents
        The agents that have it, in words.
    meaning
        What it is, as a sentence.
    """

    agents: str
    meaning: str


_URL, _PUBLISHED, _WRITTEN, _PCID = "URL", "URLAsPublished", "URLAsWritten", "PCID"
_ALL_FORMS = f"{_URL}, {_PUBLISHED}, {_WRITTEN}"
_DECODING = f"{_ALL_FORMS}, {_PCID}"

DIAGNOSTICS = {
    "observations_met": Diagnostic(
        "learners that see observations", "Number of different observations: rows of the learner's table."
    ),
    "decoder_accuracy": Diagnostic(
        _DECODING,
        "Share of observations whose label is right, for each level 1..H+1. It is measured against the "
        "truth, which agents are never told.",
    ),
    "seconds": Diagnostic(
        _DECODING,
        "Seconds that each part of the run took. All: `evaluation` of the final policy; all forms of URL: "
        "`oracle` and `learning`; all but URL: `exploration`; URLAsWritten: `selection`; PCID: `regression` "
        "and `exploitation`.",
    ),
    "oracle_fits": Diagnostic(
        _ALL_FORMS, "Number of times that an oracle was fitted; fits that only check the labels do not count."
    ),
    "decoder_trajectories": Diagnostic(
        _ALL_FORMS,
        "Number of trajectories that the decoder took. URL: those before the last fit that changed more than "
        "a few labels near borders. Other forms: those that were played to train decoders.",
    ),
    "labels_found": Diagnostic(
        f"{_URL}, {_PUBLISHED}",
        "Number of labels. URL: those that occur at each level 1..H+1. URLAsPublished: those of the decoder.",
    ),
    "levels": Diagnostic(
        _URL, "How levels were decoded in the end: pooled, by one decoder, or separate, each by its own."
    ),
    "oracle": Diagnostic(_URL, "Name of the oracle that was used in the end."),
    "telling_directions": Diagnostic(
        _URL,
        "Number of directions along which the oracle saw observations in the end: those that have to do with "
        "what was done, where noise has larger clusters than states. 0 if it saw observations as they are.",
    ),
    "relabellings": Diagnostic(_URL, "Number of times that fits changed any label of the history."),
    "decoder_stable": Diagnostic(
        _URL,
        "True if `decoder_trajectories` are at most half of all, and none of `one_label_for_all`, "
        "`labels_that_split` and `labels_that_move` says that a label is doubtful.",
    ),
    "one_label_for_all": Diagnostic(
        _URL, "True if all observations have one label although a level may have several states."
    ),
    "labels_that_split": Diagnostic(
        _URL,
        "Number of labels whose observations look like two clusters or more; with separate decoders a label "
        "is counted at each level.",
    ),
    "labels_that_move": Diagnostic(
        _URL,
        "Number of labels whose observations get other labels when the oracle is refitted on a random half "
        "of the data and labels the other half; 0 where the last fit of the run changed no label.",
    ),
    "labels_with_a_past": Diagnostic(
        _URL,
        "Number of pairs of level and label after which the next label or the reward depends on what came "
        "before the label, which is never so of a state.",
    ),
    "promised_return": Diagnostic(
        _URL,
        "Return that the best policy for one half of the trajectories earns in the other half, estimated as "
        "if labels were states.",
    ),
    "late_return": Diagnostic(_URL, "Mean return of the last tenth of the trajectories."),
    "restart_means": Diagnostic(
        _WRITTEN, "Mean return of each restart's policy in the test episodes; the best one is kept."
    ),
    "guarantee": Diagnostic(
        _WRITTEN,
        "Conditions of the paper's theorem in words: those that are `unmet`, and those that are `unknown`.",
    ),
    "states_found": Diagnostic(_PCID, "Number of states that were learned at each level 1..H+1."),
    "exploration_trajectories": Diagnostic(_PCID, "Number of trajectories that were played to learn levels."),
    "evaluations": Diagnostic(
        "agents that offer policies, with evaluate_every",
        "Evaluations in the course of the run, as lists: `trajectories` played before each; `values` of the "
        "policies, exact or estimated from 100 observations of each state or 400 episodes; and "
        "`lowest_returns`, the lowest return of 20 episodes of each policy.",
    ),
    "warnings": Diagnostic("all agents", "Sentences on what may be wrong with the run."),
}
"""The diagnostics by name."""
