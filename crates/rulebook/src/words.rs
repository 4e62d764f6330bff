//! A macro for small enums whose variants are written as words in files, settings and output.

/// Defines an enum and the word of each variant. Serialisation, parsing and display all use the same list.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$note])* #[doc = concat!("Written `", $word, "`.")] #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word and its variant, in order.
            pub const NAMES: &[(&str, $name)] = &[$(($word, $name::$variant)),+];

            /// Returns the variant of a word.
            pub fn named(word: &str) -> Option<$name> {
                $name::NAMES.iter().find(|(name, _)| *name == word).map(|(_, variant)| *variant)
            }

            /// Returns the word.
            pub const fn name(self) -> &'static str {
                $name::NAMES[self as usize].0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use words;
