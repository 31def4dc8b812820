//! Checksums of all bytes before them.

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The sum of the bytes, modulo 256.
    Sum8,
    /// The bytes, combined by exclusive or.
    Xor8,
    /// CRC-16/CCITT-FALSE (polynomial 0x1021, from 0xffff): X.25 relatives, most radios.
    Crc16,
    /// CRC-16/MODBUS (polynomial 0x8005 reflected, from 0xffff).
    Crc16Modbus,
    /// CRC-32/ISO-HDLC: Ethernet, zip, PNG.
    Crc32,
}

impl Checksum {
    const ALL: [(&'static str, Self); 5] = [
        ("sum8", Self::Sum8),
        ("xor8", Self::Xor8),
        ("crc16", Self::Crc16),
        ("crc16modbus", Self::Crc16Modbus),
        ("crc32", Self::Crc32),
    ];

    /// Returns the checksum with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(other, _)| *other == name).map(|(_, check)| check)
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::Sum8 | Self::Xor8 => 1,
            Self::Crc16 | Self::Crc16Modbus => 2,
            Self::Crc32 => 4,
        }
    }

    /// The checksum of `bytes`.
    #[must_use]
    pub fn compute(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Sum8 => bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte)).into(),
            Self::Xor8 => bytes.iter().fold(0u8, |sum, &byte| sum ^ byte).into(),
            Self::Crc16 => ccitt(bytes).into(),
            // 0xa001 is 0x8005 with its bits reversed, 0xedb88320 the reversed polynomial 0x04c11db7 of Ethernet: a
            // reflected CRC shifts to the right. CRC-32 also inverts its result.
            Self::Crc16Modbus => reflected_crc(bytes, 0xa001, 0xffff),
            Self::Crc32 => !reflected_crc(bytes, 0xedb8_8320, 0xffff_ffff),
        }
    }
}

/// Computes CRC-16/CCITT-FALSE, most significant bit first.
fn ccitt(bytes: &[u8]) -> u16 {
    // Bit by bit: messages are short, and a table would be more to read than it saves.
    bytes.iter().fold(0xffff, |crc, &byte| {
        let crc = crc ^ (u16::from(byte) << 8);
        (0..8).fold(crc, |crc, _| (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 })
    })
}

/// Computes a reflected CRC, least significant bit first, without the final inversion.
fn reflected_crc(bytes: &[u8], polynomial: u32, start: u32) -> u32 {
    bytes.iter().fold(start, |crc, &byte| {
        let crc = crc ^ u32::from(byte);
        (0..8).fold(crc, |crc, _| (crc >> 1) ^ if crc & 1 == 0 { 0 } else { polynomial })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue of parametrised CRC algorithms.
    #[test]
    fn checksums_have_their_published_check_values() {
        let digits = b"123456789";
        assert_eq!(Checksum::Crc16.compute(digits), 0x29b1);
        assert_eq!(Checksum::Crc16Modbus.compute(digits), 0x4b37);
        assert_eq!(Checksum::Crc32.compute(digits), 0xcbf4_3926);
        assert_eq!(Checksum::Sum8.compute(&[0xff, 2]), 1);
        assert_eq!(Checksum::Xor8.compute(&[0xf0, 0x3c]), 0xcc);
    }
}
