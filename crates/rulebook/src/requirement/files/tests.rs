//! Shell lines against what a rule says about files: caught, not known, or harmless.

use crate::condition::Truth;
use crate::evidence::{Root, Roots};
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::requirement::{Occurrence, Place};
use crate::shell;
use crate::source::Source;

/// Compares each line with an event; a line starts with what it is: `yes`, `maybe` or `no`.
#[track_caller]
fn check(event: &str, lines: &str) {
    let text = format!("---\nforbids: {{{event}}}\n---\nBody.");
    let Entry::Rule(rule) = parse(Source::text(FormatId::Rulebook, "rule.md", text)).entry else {
        panic!("{event}")
    };
    let event = &rule.requirements.as_ref().unwrap().forbids[0].event;
    let roots = Roots { roots: vec![Root { path: "/w".to_owned(), ..Root::default() }], home: None };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (wanted, line) = line.split_once(' ').unwrap();
        let script = shell::parse(line);
        let place = Place { roots: &roots, folder: None };
        let call = Occurrence {
            tool: "Bash",
            paths: &[],
            is_write: false,
            has_failed: false,
            script: Some(&script),
            place,
        };
        let found = match event.matches(&call) {
            Truth::Yes => "yes",
            Truth::Unknown => "maybe",
            Truth::No => "no",
        };
        assert_eq!(found, wanted, "{line}");
    }
}

#[test]
fn writes_of_a_shell_line() {
    let lines = r#"
        yes rm db/migrations/1.sql
        yes rm /w/db/migrations/1.sql
        yes rm ./db/./migrations/1.sql
        yes rm src/../db/migrations/1.sql
        yes cd /w/db/migrations && rm 1.sql
        yes cd src; cd ..; rm db/migrations/1.sql
        yes cd src && rm ../db/migrations/1.sql
        yes (cd db/migrations; touch 3.sql)
        yes rm -rf db
        yes rm -rf .
        yes mv db old
        yes git -C db rm migrations/1.sql
        yes git -C /w/db rm migrations/1.sql
        yes find db/migrations -delete
        yes curl -odb/migrations/1.sql http://x
        yes cd db/migrations && curl -O http://x/1.sql
        yes sort -odb/migrations/1.sql x
        yes gcc -o db/migrations/1.sql x.c
        yes openssl enc -out db/migrations/1.sql
        yes split x db/migrations/
        yes gzip db/migrations/1.sql
        yes sqlite3 db/migrations/1.sql vacuum
        yes mv --target-directory=db/migrations x
        yes exec 3<> db/migrations/1.sql
        yes echo x >| db/migrations/1.sql
        maybe rm d*/migrations/1.sql
        maybe rm db/mig*/*
        maybe rm $X
        maybe cd $X && rm 1.sql
        maybe cp -r /tmp/m db
        maybe patch -p1 < x.patch
        maybe git apply x.patch
        maybe git stash pop
        maybe tar xf a.tar
        maybe sed -n 'w db/migrations/1.sql' x
        maybe sed '1e rm x' y
        yes npx prettier --write db/migrations/1.sql
        yes npx eslint --fix db/migrations/1.sql
        yes sd a b db/migrations/1.sql
        yes dos2unix db/migrations/1.sql
        yes env -C db/migrations touch 1.sql
        yes sudo -D db/migrations touch 1.sql
        yes git diff --output=db/migrations/1.sql
        yes git archive -o db/migrations/1.sql HEAD
        yes gunzip db/migrations/1.sql.gz
        yes { echo a; echo b; } > db/migrations/1.sql
        yes find db/migrations -name '*.sql' -delete
        maybe find . -name '*.sql' -delete
        maybe ruff format db
        maybe npx prettier --write .
        maybe vim db/migrations/1.sql
        maybe code db/migrations/1.sql
        maybe docker run x rm db/migrations/1.sql
        maybe make -f - <<< 'rm db/migrations/1.sql'
        no mkdir db/migrations
        no mkdir -p db/migrations/x
        no ruff check db
        no black --check db/migrations/1.py
        no find src -name '*.sql' -delete
        no uniq db/migrations/1.sql
        no uniq db/migrations/1.sql x
        no sed -i '' s/a/b/ x
        no rm *.tmp
        no rm -rf build
        no rm /tmp/db/migrations/1.sql
        no mkdir -p db
        no cat db/migrations/1.sql
        no psql -f db/migrations/1.sql
        no git stash list
        no git checkout main
        no git checkout -b db/migrations/x
        no git checkout -qB db/migrations/x origin/main
        no git checkout --orphan db/migrations/x
        maybe git checkout db/migrations/fix
        maybe git checkout db
        no git checkout db/migrations/x -- src/a.ts
        yes git checkout db/migrations/1.sql
        yes git checkout main db/migrations/1.sql
        maybe git stash branch db/migrations/x
        no git worktree add ../x db/migrations/x
        no git worktree add -b db/migrations/x ../x
        yes git worktree add db/migrations/w main
        no git restore -s db/migrations/x src/a.ts
        no xxd db/migrations/1.sql
        yes xxd -r x db/migrations/1.sql
        no gzip -l db/migrations/1.sql
        no gzip -9c db/migrations/1.sql
        yes gzip -9 db/migrations/1.sql
        maybe sqlite3 db/migrations/1.sql 'select 1'
        no touch -r db/migrations/1.sql y
        yes touch -d now db/migrations/1.sql
        no terraform fmt -check db/migrations/1.sql
        no yapf db/migrations/1.sql
        yes yapf -i db/migrations/1.sql
        maybe patch --dry-run x < p
        yes chmod -x db/migrations/1.sql
        yes chmod --reference=x db/migrations/1.sql
        maybe xargs -d'\n' rm <<< db/migrations/1.sql
        yes sudo -uroot rm db/migrations/1.sql
        yes rm "$PWD/db/migrations/1.sql"
        yes cd db && rm $PWD/migrations/1.sql
        yes echo 1 > "$(pwd)/db/migrations/1.sql"
        yes rm ~+/db/migrations/1.sql
        maybe rm ~-/db/migrations/1.sql
        no PWD=/x; rm "$PWD/db/migrations/1.sql"
        no rm "$PWD/x/db/migrations/1.sql"
        no tar czf x.tgz db
        no grep -o x db/migrations/1.sql
        no sed -n 1,20p db/migrations/1.sql
    "#;
    check("edit: 'db/migrations/**'", lines);
    let lines = "
        yes rm a.go
        yes gofmt -w x/a.go
        maybe rm -rf internal
        maybe rm *
        no rm *.md
        no rm -rf notes.txt
    ";
    check("edit: '**/*.go'", lines);
}

#[test]
fn reads_of_a_shell_line() {
    let lines = r#"
        yes cat .env
        yes cat < /w/.env
        yes cd src && cat ../.env
        yes git show HEAD:.env
        yes curl -d @.env x
        yes docker run --env-file=.env x
        yes cat .e*
        yes cat .en?
        yes echo "$(< .env)"
        maybe cat $X
        yes xargs cat <<< .env
        maybe xargs -n1 cat <<< .env
        yes find . -name .env -exec cat {} \;
        maybe python3 -c 'print(open(".env").read())'
        no cat src/*
        no cat *.md
        no echo $X
        no for f in src/*; do echo "$f"; done
        no rm x > y
        no rm .env
        maybe mv .env x
        maybe vim .env
        maybe dos2unix -n .env x
        yes xxd .env
        yes gzip -c .env
        yes split .env
        maybe gzip .env
        no sed -i s/a/b/ .env
    "#;
    check("read: .env", lines);
}
