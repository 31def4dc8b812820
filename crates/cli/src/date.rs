//! Dates of results that were not made now.

use std::time::{SystemTime, UNIX_EPOCH};

use ioxide_record::calendar::{SECONDS_PER_DAY, date_of_day};

/// Returns the time as people write it: `2026-11-16 18:02 UTC`.
pub fn current_date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seconds = i64::try_from(seconds).unwrap_or_default();
    format_date(seconds)
}

/// Returns the time that is this many seconds after the beginning of 1970.
fn format_date(seconds: i64) -> String {
    let (year, month, day) = date_of_day(seconds / SECONDS_PER_DAY);
    let (hour, minute) = (seconds % SECONDS_PER_DAY / 3600, seconds % 3600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        assert_eq!(format_date(0), "1970-01-01 00:00 UTC");
        assert_eq!(format_date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(format_date(1_794_852_179), "2026-11-16 18:02 UTC");
        assert_eq!(format_date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert_eq!(format_date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
