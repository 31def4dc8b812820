//! Dates and durations as numbers of seconds, exactly.
//!
//! Leap seconds are read as the second before them.

use ioxide_model::number::Rational;
use ioxide_record::calendar::{SECONDS_PER_DAY, date_of_day, day_of_date, days_in_month};

/// Returns seconds since 1970 as `2026-11-18T10:00:00Z`; `None` outside the years 0 to 9999, or with endless decimals.
pub(super) fn rfc3339(seconds: &Rational) -> Option<String> {
    let whole = seconds.floor();
    // The floor, not the truncation: before 1970 the fraction is counted forwards, too.
    let fraction = seconds - &Rational::from(whole.clone());
    let whole = whole.to_i64()?;
    let (day, second) = (whole.div_euclid(SECONDS_PER_DAY), whole.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = date_of_day(day);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let fraction = fraction.to_string();
    // A third of a second has no end in decimals.
    if fraction.contains('/') {
        return None;
    }
    let fraction = fraction.trim_start_matches('0');
    let fraction = if fraction == ".0" || fraction.is_empty() { "" } else { fraction };
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// Returns the seconds since 1970 of a date with time (RFC 3339).
pub(super) fn read_rfc3339(text: &str) -> Option<Rational> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let clock = rest.get(..8)?;
    let [year, month, day] = parse_numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = parse_numbers(clock, ':', [2, 2, 2])?;
    let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = match rest.get(8..)?.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).filter(|&end| end > 0)?;
            (rest[..end].to_owned(), &rest[end..])
        }
        None => (String::new(), rest.get(8..)?),
    };
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('+') { 1 } else { -1 };
            let [hours, minutes] = parse_numbers(zone.strip_prefix(['+', '-'])?, ':', [2, 2])?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * 3600 + minutes * 60)
        }
    };
    let second = second.min(59);
    let whole = day_of_date(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset;
    let fraction: Rational =
        if fraction.is_empty() { Rational::ZERO } else { format!("0.{fraction}").parse().ok()? };
    Some(&Rational::from(whole) + &fraction)
}

/// Reads a number with a unit, or several one after the other: `1.5s`, `300ms`, `1h30m`, `-2s`.
pub(super) fn read_duration(text: &str) -> Option<Rational> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut sum = Rational::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "ns" => Rational::new(1.into(), 1_000_000_000.into())?,
            "us" | "µs" | "μs" => Rational::new(1.into(), 1_000_000.into())?,
            "ms" => Rational::new(1.into(), 1_000.into())?,
            "s" => Rational::ONE,
            "m" | "min" => Rational::from(60),
            "h" => Rational::from(3600),
            "d" => Rational::from(SECONDS_PER_DAY),
            _ => return None,
        };
        sum = &sum + &(&number * &seconds);
        rest = after;
    }
    Some(if is_negative { -&sum } else { sum })
}

/// Returns seconds, written with their decimals, as a duration of ISO 8601.
pub(super) fn iso_duration(seconds: &str) -> String {
    match seconds.strip_prefix('-') {
        Some(seconds) => format!("-PT{seconds}S"),
        None => format!("PT{seconds}S"),
    }
}

/// Reads a duration of ISO 8601 in days, hours, minutes and seconds; months and years have no fixed length.
pub(super) fn read_iso_duration(text: &str) -> Option<Rational> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut rest = text.strip_prefix('P')?;
    let (mut sum, mut is_time, mut n_parts) = (Rational::ZERO, false, 0);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('T') {
            if is_time {
                return None;
            }
            (is_time, rest) = (true, after);
            continue;
        }
        let (number, after) = leading_number(rest)?;
        let unit = after.chars().next()?;
        let seconds = match (unit, is_time) {
            ('W', false) => 7 * SECONDS_PER_DAY,
            ('D', false) => SECONDS_PER_DAY,
            ('H', true) => 3600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => return None,
        };
        sum = &sum + &(&number * &Rational::from(seconds));
        n_parts += 1;
        rest = &after[unit.len_utf8()..];
    }
    (n_parts > 0).then(|| if is_negative { -&sum } else { sum })
}

/// Returns the decimal number that a text begins with, and what follows it.
fn leading_number(text: &str) -> Option<(Rational, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let has_digits = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    // More digits than any clock has take too long to be read.
    if !has_digits || number.len() > 40 {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

/// Returns the numbers between separators, each with as many digits as `widths` says.
fn parse_numbers<const N: usize>(text: &str, between: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut parts = text.split(between);
    for (number, width) in found.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", "0"),
            ("2026-11-18T10:30:05Z", "1794997805"),
            ("1969-12-31T23:59:59.5Z", "-0.5"),
            ("0000-01-01T00:00:00Z", "-62167219200"),
            ("9999-12-31T23:59:59Z", "253402300799"),
        ] {
            let seconds: Rational = seconds.parse().unwrap();
            assert_eq!(read_rfc3339(text), Some(seconds.clone()), "{text}");
            assert_eq!(rfc3339(&seconds).as_deref(), Some(text));
        }
        let same =
            ["2026-11-18T10:30:05+00:00", "2026-11-18t05:30:05.000-05:00", "2026-11-18 16:00:05+05:30"];
        for text in same {
            assert_eq!(read_rfc3339(text), Some(Rational::from(1_794_997_805)), "{text}");
        }
        for wrong in [
            "2026-11-18",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-18T24:00:00Z",
            "2026-11-18T10:30:05",
            "2026-11-18T10:30:05.Z",
            "2026-11-18T10:30:05+1:00",
            "26-11-18T10:30:05Z",
            "2026-11-18T10:30:05ZZ",
            "é026-11-18T10:30:05Z",
            "",
        ] {
            assert_eq!(read_rfc3339(wrong), None, "{wrong}");
        }
        assert_eq!(rfc3339(&Rational::from(253_402_300_800)), None, "the year 10000");
    }

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [
            ("1.5s", "1.5"),
            ("300ms", "0.3"),
            ("1h30m", "5400"),
            ("-2s", "-2"),
            ("0s", "0"),
            ("1us", "0.000001"),
        ] {
            assert_eq!(read_duration(text), seconds.parse().ok(), "{text}");
        }
        for (text, seconds) in
            [("PT1M30S", "90"), ("P1DT2H", "93600"), ("PT0.5S", "0.5"), ("-PT1S", "-1"), ("P2W", "1209600")]
        {
            assert_eq!(read_iso_duration(text), seconds.parse().ok(), "{text}");
        }
        for wrong in ["", "5", "s", "1.s", "1x", "PT", "P1M", "P1H", "1m 2s", "--1s"] {
            assert_eq!(read_duration(wrong).or_else(|| read_iso_duration(wrong)), None, "{wrong}");
        }
    }
}
