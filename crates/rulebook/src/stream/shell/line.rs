//! The here-documents that a line of a shell command announces.

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// The word that ends it.
    word: String,
    /// Whether tabs before the word are ignored.
    is_indented: bool,
    /// The file that it is written to, if the line names one.
    pub(super) file: Option<String>,
}

impl Document {
    /// Whether a line ends the document.
    pub(super) fn is_end(&self, line: &str) -> bool {
        self.content(line).trim_end_matches(['\n', '\r']) == self.word
    }

    /// Whether a line that is not complete may end the document.
    pub(super) fn may_end(&self, line: &str) -> bool {
        self.word.starts_with(self.content(line).trim_end_matches('\r'))
    }

    fn content<'l>(&self, line: &'l str) -> &'l str {
        if self.is_indented { line.trim_start_matches('\t') } else { line }
    }
}

/// A word of a line, without quotes, or an operator.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Operator(&'static str),
}

/// Longer operators first.
const OPERATORS: &[&str] =
    &["<<<", "<<-", "<<", "&&", "||", "&>>", "&>", ">>", ">&", ">|", ">", "<", ";", "|", "&", "(", ")"];

/// Returns the here-documents of a line in order, each with the file that its command writes.
pub(super) fn documents(line: &str) -> Vec<Document> {
    if !line.contains("<<") {
        return Vec::new();
    }
    let tokens = tokens(line);
    let ends_command = |token: &Token| matches!(token, Token::Operator("&&" | "||" | ";" | "&"));
    tokens.split(ends_command).flat_map(documents_of_command).collect()
}

fn documents_of_command(tokens: &[Token]) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut file = None;
    // The words of the current command of a pipeline that are not targets of operators.
    let mut words: Vec<&String> = Vec::new();
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        match token {
            Token::Word(word) => {
                let is_tee = words.iter().any(|known| *known == "tee");
                if is_tee && !word.starts_with('-') {
                    file.get_or_insert_with(|| word.clone());
                }
                words.push(word);
            }
            Token::Operator("|" | "(" | ")") => words.clear(),
            Token::Operator(operator) => {
                let Some(Token::Word(word)) = rest.as_slice().first() else { continue };
                rest.next();
                match *operator {
                    "<<" | "<<-" => {
                        let (word, is_indented) = (word.clone(), *operator == "<<-");
                        documents.push(Document { word, is_indented, file: None });
                    }
                    ">" | ">>" | ">|" | "&>" | "&>>" if word != "/dev/null" => {
                        file.get_or_insert_with(|| word.clone());
                    }
                    _ => {}
                }
            }
        }
    }
    documents.iter_mut().for_each(|document| document.file.clone_from(&file));
    documents
}

fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    // A quoted word may be empty.
    let mut word: Option<String> = None;
    let mut rest = line.trim_end();
    while let Some(c) = rest.chars().next() {
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            let is_descriptor = word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
            // The number of a descriptor, as in `2>`: what it writes is not the document.
            let operator = if is_descriptor && operator.starts_with('>') { ">&" } else { operator };
            tokens.extend(word.take().filter(|_| !is_descriptor).map(Token::Word));
            tokens.push(Token::Operator(operator));
            let len = OPERATORS.iter().find(|known| rest.starts_with(**known)).map_or(1, |known| known.len());
            rest = &rest[len..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\'' | '"' => {
                let (quoted, after) = rest.split_once(c).unwrap_or((rest, ""));
                word.get_or_insert_default().push_str(quoted);
                rest = after;
            }
            '\\' => {
                let next = rest.chars().next();
                word.get_or_insert_default().extend(next);
                rest = &rest[next.map_or(0, char::len_utf8)..];
            }
            c if c.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}
