//! The functions that values have: names, parameters and results, for the checker and for editors.
//!
//! `T` stands for the items of a list or set, `K` and `V` for the keys and values of a map.

/// A function of strings, numbers or collections, called as `value.name(...)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, as `name: type`.
    pub parameters: &'static [&'static str],
    /// The type of its value.
    pub result: &'static str,
    /// A description of the result.
    pub about: &'static str,
}

/// Makes the entry of one function; short, because the table below has one line per entry.
const fn f(
    name: &'static str,
    parameters: &'static [&'static str],
    result: &'static str,
    about: &'static str,
) -> BuiltIn {
    BuiltIn { name, parameters, result, about }
}

/// The functions of strings.
pub const STRING_FUNCTIONS: &[BuiltIn] = &[
    f("length", &[], "int", "how many characters it has"),
    f("contains", &["part: string"], "bool", "whether `part` occurs in it"),
    f("starts_with", &["part: string"], "bool", "whether it starts with `part`"),
    f("ends_with", &["part: string"], "bool", "whether it ends with `part`"),
    f(
        "matches",
        &["pattern: string"],
        "bool",
        "whether the whole string fits a regular expression, a literal",
    ),
    f(
        "substring",
        &["from: int", "count: int"],
        "string",
        "`count` characters from `from` on, or fewer if it ends before",
    ),
    f("index_of", &["part: string"], "int?", "where `part` occurs first, if it does"),
    f("to_int", &[], "int?", "the whole number it writes, if it does"),
    f("upper", &[], "string", "the same in upper case"),
    f("lower", &[], "string", "the same in lower case"),
    f("pad_left", &["width: int", "with: string"], "string", "the same with `with` in front, up to a width"),
    f("split", &["at: string"], "list<string>", "its pieces between occurrences of `at`"),
];

/// The functions of whole numbers.
pub const INT_FUNCTIONS: &[BuiltIn] = &[f("to_string", &[], "string", "the number in digits")];

/// The functions of lists.
pub const LIST_FUNCTIONS: &[BuiltIn] = &[
    f("length", &[], "int", "how many items it has"),
    f("is_empty", &[], "bool", "whether it has no items"),
    f("first", &[], "T?", "its first item, if it has one"),
    f("last", &[], "T?", "its last item, if it has one"),
    f("get", &["at: int"], "T?", "the item at `at`, counted from 0, if there is one"),
    f("take", &["n: int"], "list<T>", "its first `n` items"),
    f("drop", &["n: int"], "list<T>", "all but its first `n` items"),
    f("slice", &["from: int", "to: int"], "list<T>", "the items from `from` up to `to`, without that one"),
    f("contains", &["item: T"], "bool", "whether `item` occurs in it"),
    f("index_of", &["item: T"], "int?", "where `item` occurs first, if it does"),
    f("insert", &["at: int", "item: T"], "list<T>", "the same with `item` before the one at `at`"),
    f("remove_at", &["at: int"], "list<T>", "the same without the item at `at`"),
    f("with", &["at: int", "item: T"], "list<T>", "the same with `item` instead of the one at `at`"),
    f("without", &["item: T"], "list<T>", "the same without `item`"),
    f("reverse", &[], "list<T>", "its items from the last to the first"),
    f("sorted", &[], "list<T>", "its items in order: numbers or strings"),
    f("sum", &[], "T", "the sum of its numbers"),
    f("min", &[], "T?", "the smallest of its numbers, if it has any"),
    f("max", &[], "T?", "the greatest of its numbers, if it has any"),
    f("to_set", &[], "set<T>", "its items without order and repetition"),
    f("join", &["between: string"], "string", "its strings as one, with `between` between them"),
];

/// The functions of sets.
pub const SET_FUNCTIONS: &[BuiltIn] = &[
    f("size", &[], "int", "how many members it has"),
    f("is_empty", &[], "bool", "whether it has no members"),
    f("has", &["item: T"], "bool", "whether `item` is a member"),
    f("with", &["item: T"], "set<T>", "the same with `item`"),
    f("without", &["item: T"], "set<T>", "the same without `item`"),
    f("union", &["other: set<T>"], "set<T>", "the members of either"),
    f("intersection", &["other: set<T>"], "set<T>", "the members of both"),
    f("difference", &["other: set<T>"], "set<T>", "its members that `other` has not"),
    f("subset_of", &["other: set<T>"], "bool", "whether `other` has all its members"),
    f("sorted", &[], "list<T>", "its members in order"),
    f("contains", &["item: T"], "bool", "whether `item` is a member"),
];

/// The functions of maps.
pub const MAP_FUNCTIONS: &[BuiltIn] = &[
    f("size", &[], "int", "how many entries it has"),
    f("is_empty", &[], "bool", "whether it has no entries"),
    f("has", &["key: K"], "bool", "whether it has an entry for `key`"),
    f("get", &["key: K"], "V?", "the value for `key`, if there is one"),
    f("with", &["key: K", "value: V"], "map<K, V>", "the same with `value` for `key`"),
    f("without", &["key: K"], "map<K, V>", "the same without an entry for `key`"),
    f("keys", &[], "list<K>", "its keys in order"),
    f("values", &[], "list<V>", "its values in the order of their keys"),
];

/// The names of `functions`.
pub(crate) fn builtin_names(functions: &[BuiltIn]) -> Vec<&'static str> {
    functions.iter().map(|function| function.name).collect()
}
