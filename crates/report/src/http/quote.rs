//! Words of a shell with variables of the environment in them.

/// Returns a text as one word of a shell, in which `${NAME}` stands for the variable if it is one of `variables`;
/// everything else is literal. Nothing that drives a terminal is left in it.
pub(super) fn quote_word(text: &str, variables: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut word = String::new();
    let mut rest = text;
    while let Some((literal, name, after)) = split_variable(rest, variables) {
        word.push_str(&quote_literal(literal));
        // `${USER:PASSWORD}` is both of them.
        let names: Vec<String> = name.split(':').map(|name| format!("${name}")).collect();
        word.push_str(&format!("\"{}\"", names.join(":")));
        rest = after;
    }
    word.push_str(&quote_literal(rest));
    if word.is_empty() { "''".to_owned() } else { word }
}

/// Returns the text before the first variable, its name, and the text after it.
fn split_variable<'t>(text: &'t str, variables: &[String]) -> Option<(&'t str, &'t str, &'t str)> {
    let places = text.match_indices("${");
    places.into_iter().find_map(|(at, _)| {
        let (name, after) = text[at + 2..].split_once('}')?;
        variables.iter().any(|variable| variable == name).then_some((&text[..at], name, after))
    })
}

fn quote_literal(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    if !text.chars().any(is_unprintable) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // As bash writes characters that cannot be seen.
    let mut word = String::from("$'");
    for letter in text.chars() {
        match letter {
            '\'' => word.push_str("\\'"),
            '\\' => word.push_str("\\\\"),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            '\t' => word.push_str("\\t"),
            letter if is_unprintable(letter) && letter.is_ascii() => {
                word.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter if is_unprintable(letter) => word.push_str(&format!("\\U{:08x}", u32::from(letter))),
            letter => word.push(letter),
        }
    }
    word + "'"
}

fn is_unprintable(letter: char) -> bool {
    crate::control_characters::is_hidden(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_variables_are_expanded() {
        let known = ["API_TOKEN".to_owned()];
        assert_eq!(quote_word("Bearer ${API_TOKEN}", &known), "'Bearer '\"$API_TOKEN\"");
        assert_eq!(quote_word("a ${HOME} `id` $(id)", &known), "'a ${HOME} `id` $(id)'");
        assert_eq!(quote_word("it's", &known), "'it'\\''s'");
        assert_eq!(quote_word("http://h/a", &[]), "http://h/a");
        assert_eq!(quote_word("", &[]), "''");
        assert_eq!(quote_word("a\n\u{1b}[2J\u{202e}'", &[]), "$'a\\n\\x1b[2J\\U0000202e\\''");
        assert_eq!(quote_word("${U:P}", &["U:P".to_owned()]), "\"$U:$P\"");
    }
}
