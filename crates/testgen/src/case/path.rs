//! Purposes as people write them: every switch of a path, or some waypoints of it.
//!
//! A list of switch labels and `quiet` alone is the path itself. A list with states, messages or `..` in it is
//! sparse: the shortest path that can be taken, meets the waypoints in order and ends with an output,
//! or with silence if that is the last waypoint, is searched for, best first by the distance still to go in the graph
//! of locations.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt;

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_symex::{Ctx, SymState, take_step};

/// An element of a sparse path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waypoint {
    /// The path takes this switch.
    Switch(SwitchId),
    /// The path has silence as a step.
    Quiet,
    /// The path takes a switch with this message.
    Message(GateId),
    /// The path visits this location.
    Place(LocId),
    /// Any steps may be taken in between.
    Gap,
}

/// The reason why there is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The list is empty.
    Empty,
    /// A word names no switch, message or state.
    Unknown {
        /// The word.
        word: String,
        /// A similar name of the model, if there is one.
        near: Option<String>,
    },
    /// Proved: no path meets the waypoints in order and ends with an output.
    NoWay {
        /// The greatest number of waypoints that the search met in order.
        met: usize,
    },
    /// No path was found before the limit of steps tried.
    NotFound {
        /// The number of steps tried.
        tried: usize,
    },
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the path is empty"),
            Self::Unknown { word, .. } => {
                write!(f, "`{word}` is not a transition, message or state of the model")
            }
            Self::NoWay { met: 0 } => f.write_str("no path leads to the first of the waypoints"),
            Self::NoWay { met } => {
                write!(f, "no path continues after {met} of the waypoints and ends with an output")
            }
            Self::NotFound { tried } => write!(f, "no path was found among {tried} steps tried"),
        }
    }
}

/// The number of steps tried before the search ends. Chosen by feel: a path not found within it is reported as not
/// found.
const MAX_TRIED: usize = 5_000;

/// Reads a list of words as waypoints: labels of switches first, then messages, then states. Fails also if no word is
/// left but `...`.
///
/// # Errors
/// If a word names nothing.
pub fn waypoints<'w>(
    sts: &Sts,
    words: impl IntoIterator<Item = &'w str>,
) -> Result<Vec<Waypoint>, PathError> {
    let found: Vec<Waypoint> = words
        .into_iter()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(|word| parse_waypoint(sts, word))
        .collect::<Result<_, _>>()?;
    if found.iter().all(|waypoint| *waypoint == Waypoint::Gap) {
        return Err(PathError::Empty);
    }
    Ok(found)
}

/// Reads one word of a path: a gap, a message, a switch or a location.
fn parse_waypoint(sts: &Sts, word: &str) -> Result<Waypoint, PathError> {
    let bare = word.trim_start_matches(['?', '!']);
    let message = || sts.gate_named(bare).filter(|gate| *gate != Sts::TAU).map(Waypoint::Message);
    // With a mark the word is a message. Without, the label of a switch comes first: it is the most exact.
    let found = match word {
        ".." | "..." => Some(Waypoint::Gap),
        _ if bare != word => message(),
        _ => (sts.switch_named(word).map(Waypoint::Switch))
            .or_else(message)
            .or_else(|| sts.location_named(word).map(Waypoint::Place))
            .or_else(|| (word == "quiet").then_some(Waypoint::Quiet)),
    };
    found.ok_or_else(|| PathError::Unknown { word: word.to_owned(), near: similar_name(sts, word) })
}

/// A name like `word`: equal but for case, or with the word in it.
fn similar_name(sts: &Sts, word: &str) -> Option<String> {
    let labels = sts.switches.iter().map(|switch| &switch.label);
    let gates = sts.gates.iter().skip(1).map(|gate| &gate.name);
    let places = sts.locations.iter().map(|location| &location.name);
    let names: Vec<&str> = labels.chain(gates).chain(places).map(|name| &**name).collect();
    let lower = word.to_lowercase();
    let alike = |name: &&&str| name.to_lowercase() == lower;
    let within = |name: &&&str| name.to_lowercase().contains(&lower) || lower.contains(&name.to_lowercase());
    names.iter().find(alike).or_else(|| names.iter().find(within)).map(|name| (*name).to_owned())
}

/// Returns the path that `waypoints` stand for: the steps themselves if there are only switches and silences, else a
/// shortest path.
///
/// # Errors
/// If there is none, or none was found.
pub fn complete(cx: &mut Ctx<'_>, waypoints: &[Waypoint]) -> Result<Vec<PathStep>, PathError> {
    let exact: Option<Vec<PathStep>> = waypoints
        .iter()
        .map(|waypoint| match waypoint {
            Waypoint::Switch(id) => Some(PathStep::Take(*id)),
            Waypoint::Quiet => Some(PathStep::Quiet),
            Waypoint::Message(_) | Waypoint::Place(_) | Waypoint::Gap => None,
        })
        .collect();
    match exact {
        Some(path) if path.is_empty() => Err(PathError::Empty),
        Some(path) => Ok(path),
        None => {
            let wanted: Vec<Waypoint> =
                waypoints.iter().copied().filter(|waypoint| *waypoint != Waypoint::Gap).collect();
            find_path(cx, &wanted)
        }
    }
}

/// A path under construction, with the number of waypoints met.
struct PathAttempt {
    state: SymState,
    met: usize,
    path: Vec<PathStep>,
}

/// Searches for a path through `wanted`, the nearest attempts first.
fn find_path(cx: &mut Ctx<'_>, waypoints: &[Waypoint]) -> Result<Vec<PathStep>, PathError> {
    let sts = cx.sts;
    // An A* search. The distance in the graph of locations ignores guards, so it is never too large, and attempts are
    // expanded in the order of their least possible length.
    let distances = distances(sts, waypoints);
    let start = places_met(sts.initial, waypoints, 0);
    let mut attempts = vec![PathAttempt { state: SymState::initial(cx), met: start, path: Vec::new() }];
    let mut queue = BinaryHeap::new();
    if let Some(distance) = distances.get(&(sts.initial, start)) {
        queue.push(Reverse((*distance, 0)));
    }
    let (mut tried, mut best) = (0, furthest(&distances, waypoints, sts, start));
    while let Some(Reverse((_, at))) = queue.pop() {
        let (state, met) = (attempts[at].state.clone(), attempts[at].met);
        for hop in hops(sts, waypoints, (state.loc, met)) {
            let PathHop { step, to: (target, now), is_done, .. } = hop;
            // From here no path ends well even if no guard is looked at.
            let Some(&distance) = distances.get(&(target, now)).or(is_done.then_some(&0)) else {
                continue;
            };
            tried += 1;
            if tried > MAX_TRIED {
                return Err(PathError::NotFound { tried: MAX_TRIED });
            }
            // A refuted step ends the attempt. One in doubt goes on: the case made of the path is checked in the
            // end.
            let Some(next) = take_step(cx, &state, step).into_state() else { continue };
            best = best.max(now);
            let mut path = attempts[at].path.clone();
            path.push(step);
            // The attempt was nearest, and its distance was one step: no other path can be shorter.
            if is_done {
                return Ok(path);
            }
            queue.push(Reverse((path.len() + distance, attempts.len())));
            attempts.push(PathAttempt { state: next, met: now, path });
        }
    }
    Err(PathError::NoWay { met: best })
}

/// Returns the greatest number of waypoints that a path of the graph of locations meets, guards aside; `start` if the
/// graph has a path that meets all of them and ends with an output.
fn furthest(
    distances: &BTreeMap<WaypointPlace, usize>,
    waypoints: &[Waypoint],
    sts: &Sts,
    start: usize,
) -> usize {
    if distances.contains_key(&(sts.initial, start)) {
        return start;
    }
    let mut seen = vec![(sts.initial, start)];
    let mut at = 0;
    while let Some(&(loc, met)) = seen.get(at) {
        at += 1;
        for PathHop { to, .. } in hops(sts, waypoints, (loc, met)) {
            if !seen.contains(&to) {
                seen.push(to);
            }
        }
    }
    seen.iter().map(|(_, met)| *met).max().unwrap_or(start)
}

/// Returns the least number of steps from a location, with this many waypoints met, to the end of a path, guards aside.
fn distances(sts: &Sts, waypoints: &[Waypoint]) -> BTreeMap<WaypointPlace, usize> {
    let nodes = sts.locations.ids().flat_map(|loc| (0..=waypoints.len()).map(move |met| (loc, met)));
    let edges: Vec<PathHop> = nodes.flat_map(|from| hops(sts, waypoints, from)).collect();
    let mut found: BTreeMap<WaypointPlace, usize> = BTreeMap::new();
    let mut queue: VecDeque<WaypointPlace> = VecDeque::new();
    for hop in edges.iter().filter(|hop| hop.is_done) {
        if found.insert(hop.from, 1).is_none() {
            queue.push_back(hop.from);
        }
    }
    // Breadth first, backwards from the switches that may end a path.
    while let Some(place) = queue.pop_front() {
        let distance = found[&place] + 1;
        for hop in edges.iter().filter(|hop| hop.to == place) {
            if let Entry::Vacant(new) = found.entry(hop.from) {
                new.insert(distance);
                queue.push_back(hop.from);
            }
        }
    }
    found
}

/// A location, and the number of waypoints met on the way to it.
type WaypointPlace = (LocId, usize);

/// A step between two places; `is_done` if it may end the path.
struct PathHop {
    step: PathStep,
    from: WaypointPlace,
    to: WaypointPlace,
    is_done: bool,
}

/// The steps from a place. Silence is one only where it is the next waypoint.
fn hops(sts: &Sts, waypoints: &[Waypoint], from: WaypointPlace) -> Vec<PathHop> {
    let hop = |(id, switch): (SwitchId, &Switch)| {
        let now = met_after(waypoints, from.1, id, switch);
        let is_done = now == waypoints.len() && sts.kind_of(switch) == GateKind::Output;
        PathHop { step: PathStep::Take(id), from, to: (switch.target, now), is_done }
    };
    let mut hops: Vec<PathHop> = sts.switches_from(from.0).map(hop).collect();
    if waypoints.get(from.1) == Some(&Waypoint::Quiet) {
        let now = places_met(from.0, waypoints, from.1 + 1);
        let is_done = now == waypoints.len();
        hops.push(PathHop { step: PathStep::Quiet, from, to: (from.0, now), is_done });
    }
    hops
}

/// Returns the number of waypoints met after `switch`, if `met` of them were met before.
fn met_after(waypoints: &[Waypoint], met: usize, id: SwitchId, switch: &Switch) -> usize {
    let taken = match waypoints.get(met) {
        Some(Waypoint::Switch(waypoints)) => *waypoints == id,
        Some(Waypoint::Message(gate)) => *gate == switch.gate,
        _ => false,
    };
    places_met(switch.target, waypoints, met + usize::from(taken))
}

/// Returns the number of waypoints met at `loc`, if `met` of them were met before.
fn places_met(loc: LocId, waypoints: &[Waypoint], met: usize) -> usize {
    // A place may be named twice in a row; one visit meets both.
    met + waypoints[met..].iter().take_while(|waypoint| **waypoint == Waypoint::Place(loc)).count()
}
