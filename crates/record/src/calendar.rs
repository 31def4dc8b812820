//! Days and dates, in the proleptic Gregorian calendar (RFC 3339).
//!
//! The algorithms are those of Howard Hinnant, "chrono-compatible low-level date algorithms".

/// The length of a day without leap seconds.
pub const SECONDS_PER_DAY: i64 = 86_400;

/// Returns the number of days of a month, from 1 for January.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1 January 1970 to a date. Years begin in March, so that the leap day is the last of its year.
pub fn day_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns year, month and day of a day counted from 1 January 1970.
pub fn date_of_day(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Returns the time that is this many seconds after the beginning of 1970.
pub fn format_date(seconds: i64) -> String {
    let (year, month, day) = date_of_day(seconds / SECONDS_PER_DAY);
    let (hour, minute) = (seconds % SECONDS_PER_DAY / 3600, seconds % 3600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_has_its_date() {
        let (mut year, mut month, mut day) = (1800, 1, 1);
        for number in day_of_date(1800, 1, 1)..day_of_date(2201, 1, 1) {
            assert_eq!(date_of_day(number), (year, month, day));
            assert_eq!(day_of_date(year, month, day), number);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(day_of_date(1970, 1, 1), 0);
    }

    #[test]
    fn seconds_become_dates() {
        assert_eq!(format_date(0), "1970-01-01 00:00 UTC");
        assert_eq!(format_date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(format_date(1_794_852_179), "2026-11-16 18:02 UTC");
        assert_eq!(format_date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert_eq!(format_date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
