//! The states that the model may have been in: the first one in full, the others by how they differ from it.

use ioxide_record::event::StateRecord;

/// Returns the states as lines, to be shown one below the other; `or` begins every further state.
pub(crate) fn compare_states(states: &[StateRecord]) -> Vec<String> {
    let Some((first, others)) = states.split_first() else { return Vec::new() };
    let known: Vec<&str> = first.values.iter().chain(&first.path).map(String::as_str).collect();
    if !others.is_empty() && others.iter().all(|state| list_different_facts(first, state).is_empty()) {
        let locations: Vec<&str> = states.iter().map(|state| &*state.location).collect();
        return vec![format!("{}  {}", locations.join(" or "), known.join(", "))];
    }
    let mut lines = vec![format!("{}  {}", first.location, known.join(", "))];
    lines.extend(others.iter().map(|state| {
        let location = show_different_location(&first.location, &state.location);
        let facts = list_different_facts(first, state).join(", ");
        match (location.is_empty(), facts.is_empty()) {
            (false, false) => format!("or {location}  {facts}"),
            (false, true) => format!("or {location}"),
            (true, _) => format!("or {facts}"),
        }
    }));
    lines
}

/// Returns the location of another state; in a system of parts only the parts that are elsewhere, and nothing if it is
/// the same.
fn show_different_location(first: &str, other: &str) -> String {
    let parts: Vec<&str> = first.split(", ").collect();
    let are_parts = |location: &str| location.split(", ").all(|part| part.contains(": "));
    if first == other {
        String::new()
    } else if are_parts(first) && are_parts(other) {
        let elsewhere: Vec<&str> = other.split(", ").filter(|part| !parts.contains(part)).collect();
        elsewhere.join(", ")
    } else {
        other.to_owned()
    }
}

/// Returns what is known of `other` and not of `first`, and which conditions of `first` do not hold for it.
fn list_different_facts(first: &StateRecord, other: &StateRecord) -> Vec<String> {
    let values = other.values.iter().filter(|value| !first.values.contains(value)).cloned();
    let more = other.path.iter().filter(|fact| !first.path.contains(fact)).cloned();
    let missing = first.path.iter().filter(|fact| !other.path.contains(fact));
    values.chain(more).chain(missing.map(|fact| format!("without {fact}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(states: &[(&str, &[&str])]) -> Vec<String> {
        let state = |(location, values): &(&str, &[&str])| StateRecord {
            location: (*location).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            path: Vec::new(),
        };
        let states: Vec<StateRecord> = states.iter().map(state).collect();
        compare_states(&states)
    }

    #[test]
    fn one_state_is_shown_in_full() {
        assert_eq!(lines(&[("S", &["n = 1", "m = 2"])]), ["S  n = 1, m = 2"]);
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn of_several_states_only_the_differences_are_repeated() {
        let found = lines(&[("S", &["a = 0", "n = 1", "m = 2"]), ("S", &["a = 0", "n = 1", "m = 3"])]);
        assert_eq!(found, ["S  a = 0, n = 1, m = 2", "or m = 3"]);
        let found =
            lines(&[("S", &["n = 1", "m = 2"]), ("T", &["n = 1", "m = 3"]), ("T", &["n = 1", "m = 2"])]);
        assert_eq!(found, ["S  n = 1, m = 2", "or T  m = 3", "or T"]);
        assert_eq!(lines(&[("S", &["n = 1"]), ("T", &["n = 1"])]), ["S or T  n = 1"]);
        let found = lines(&[("s: up, c: idle", &["n = 1"]), ("s: up, c: busy", &["n = 2"])]);
        assert_eq!(found, ["s: up, c: idle  n = 1", "or c: busy  n = 2"]);
    }

    #[test]
    fn a_condition_that_only_the_first_state_has_is_not_taken_for_one_of_all() {
        let state = |path: &[&str]| StateRecord {
            location: "S".to_owned(),
            values: Vec::new(),
            path: path.iter().map(|fact| (*fact).to_owned()).collect(),
        };
        assert_eq!(
            compare_states(&[state(&["a > 0"]), state(&["b > 0"])]),
            ["S  a > 0", "or b > 0, without a > 0"]
        );
    }
}
