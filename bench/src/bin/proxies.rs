//! Measures many streams through a proxy. The model's server and its clients are in one process, so that one clock times both
//! ends.
//!
//! `proxies rules FOLDER COUNT` writes stream rules; `proxies run TARGET=ADDRESS=PIDS…` measures each target in turn.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The number of streams, the deltas per stream, and the time between two deltas.
const LOADS: &[(usize, usize, u64)] = &[(1, 200, 10), (100, 60, 50), (1000, 20, 250)];

/// Prose that starts no match of the rules, so that nothing has to wait.
const SAID: &[&str] =
    &["quietly the river", "carries leaves", "over mossy stones", "while birds look", "for their young"];

/// The number of rounds per target.
const ROUNDS: usize = 5;

struct Target {
    name: String,
    address: String,
    pids: Vec<String>,
}

#[derive(Default)]
struct Round {
    first: Vec<u64>,
    deltas: Vec<u64>,
    cpu: f64,
    failed: usize,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args[0] == "rules" {
        let folder = format!("{}/.rulebook/rules", args[1]);
        fs::create_dir_all(&folder).expect("a folder");
        for (at, condition) in
            rulebook_bench::stream::conditions(args[2].parse().expect("a number")).iter().enumerate()
        {
            let condition = condition.replace('\'', "''");
            let text = format!("---\ncondition: '{condition}'\n---\nNo.\n");
            fs::write(format!("{folder}/r{at}.md"), text).expect("a rule");
        }
        return;
    }
    let port: u16 = args[1].parse().expect("the port of the model's server");
    let targets: Vec<Target> = args[2..].iter().map(|arg| target(arg)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let start = Instant::now();
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, start));
            }
        });
        println!("medians of {ROUNDS} rounds; times in ms, processor time per delta in µs, `×` is the ratio to nginx");
        println!(
            "{:>8} {:>9} {:>9} {:>9} {:>6} {:>9} {:>9} {:>9} {:>6} {:>7}",
            "streams", "through", "first p50", "p99", "×", "delta p50", "p99", "CPU/delta", "×", "failed"
        );
        for &(streams, deltas, gap) in LOADS {
            let mut all: Vec<Vec<Round>> = targets.iter().map(|_| Vec::new()).collect();
            // One target after the other in each round, so that other load on the machine affects all of them.
            for _ in 0..ROUNDS {
                for (target, rounds) in targets.iter().zip(&mut all) {
                    rounds.push(measure(target, streams, deltas, gap, start).await);
                }
            }
            let nginx = targets.iter().position(|target| target.name == "nginx");
            let ratio = |rounds: &[Round], of: fn(&Round) -> f64| {
                nginx.map_or(f64::NAN, |nginx| median(rounds, of) / median(&all[nginx], of))
            };
            for (target, rounds) in targets.iter().zip(&all) {
                println!(
                    "{streams:>8} {:>9} {:>9.2} {:>9.2} {:>6.2} {:>9.2} {:>9.2} {:>9.1} {:>6.2} {:>7}",
                    target.name,
                    median(rounds, |round| at(&round.first, 0.5)),
                    median(rounds, FIRST_P99),
                    ratio(rounds, FIRST_P99),
                    median(rounds, |round| at(&round.deltas, 0.5)),
                    median(rounds, |round| at(&round.deltas, 0.99)),
                    median(rounds, CPU),
                    ratio(rounds, CPU),
                    rounds.iter().map(|round| round.failed).sum::<usize>()
                );
            }
        }
    });
}

const FIRST_P99: fn(&Round) -> f64 = |round| at(&round.first, 0.99);
const CPU: fn(&Round) -> f64 = |round| round.cpu * 1e6;

/// The value at a part of sorted times, in milliseconds.
fn at(sorted: &[u64], part: f64) -> f64 {
    sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or(0) as f64 / 1e6
}

fn median(rounds: &[Round], of: fn(&Round) -> f64) -> f64 {
    let mut all: Vec<f64> = rounds.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn target(arg: &str) -> Target {
    let mut parts = arg.split('=');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (name, address, pids) = (part(), part(), part());
    Target { name, address, pids: pids.split(',').filter(|pid| !pid.is_empty()).map(str::to_owned).collect() }
}

/// The processor time of processes in seconds.
fn cpu(pids: &[String]) -> f64 {
    let one = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let all: f64 = tasks
            .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
            .filter_map(|stat| stat.split(' ').next()?.parse::<f64>().ok())
            .sum();
        if all > 0.0 {
            all / 1e9
        } else {
            stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
        }
    };
    pids.iter().map(one).sum()
}

async fn measure(target: &Target, streams: usize, deltas: usize, gap: u64, start: Instant) -> Round {
    let before = cpu(&target.pids);
    let failed = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for at in 0..streams {
        let (address, failed) = (target.address.clone(), Arc::clone(&failed));
        tasks.push(tokio::spawn(async move {
            // Spread the starts of the streams.
            tokio::time::sleep(Duration::from_micros((at as u64 * 7919) % (gap * 1000))).await;
            match tokio::time::timeout(Duration::from_secs(30), ask(&address, at, deltas, gap, start)).await {
                Ok(Ok(times)) if times.1.len() == deltas => times,
                Ok(Ok(times)) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    times
                }
                _ => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    (None, Vec::new())
                }
            }
        }));
    }
    let mut round = Round::default();
    for task in tasks {
        let (first, times) = task.await.expect("a client");
        round.first.extend(first);
        round.deltas.extend(times);
    }
    round.first.sort_unstable();
    round.deltas.sort_unstable();
    round.cpu = (cpu(&target.pids) - before) / (streams * deltas) as f64;
    round.failed = failed.load(Ordering::Relaxed) as usize;
    round
}

/// One stream: the time to its first byte, and the delay of each delta.
async fn ask(
    address: &str,
    session: usize,
    deltas: usize,
    gap: u64,
    start: Instant,
) -> std::io::Result<(Option<u64>, Vec<u64>)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let body = format!(
        "{{\"model\":\"m\",\"stream\":true,\"tools\":[{{\"type\":\"function\",\"function\":{{\"name\":\"f\",\"parameters\":{{}}}}}}],\"messages\":[{{\"role\":\"user\",\"content\":\"go={deltas}/{gap}=\"}}]}}"
    );
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-none\r\nx-session-id: {session}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let asked = Instant::now();
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let (mut first, mut times, mut kept) = (None, Vec::new(), Vec::new());
    let mut buffer = vec![0; 16 << 10];
    loop {
        let len = stream.read(&mut buffer).await?;
        if len == 0 {
            return Ok((first, times));
        }
        let now = start.elapsed().as_nanos() as u64;
        first.get_or_insert(asked.elapsed().as_nanos() as u64);
        kept.extend_from_slice(&buffer[..len]);
        // A delta contains the time it was sent, between two markers.
        let mut done = 0;
        while let Some(from) = kept[done..].iter().position(|byte| *byte == b'@').map(|at| done + at) {
            let Some(to) = kept[from + 1..].iter().position(|byte| *byte == b'@').map(|at| from + 1 + at)
            else {
                break;
            };
            let sent =
                std::str::from_utf8(&kept[from + 1..to]).ok().and_then(|text| text.parse::<u64>().ok());
            times.extend(sent.map(|sent| now.saturating_sub(sent)));
            done = to + 1;
        }
        kept.drain(..done);
        let long = kept.len().saturating_sub(256);
        if !kept.contains(&b'@') {
            kept.drain(..long);
        }
        if times.len() == deltas {
            return Ok((first, times));
        }
    }
}

/// The model's server: sends deltas in the number and at the interval that the request specifies.
async fn answer(mut stream: TcpStream, start: Instant) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (deltas, gap) = loop {
            let text = String::from_utf8_lossy(&request);
            let said = text.split_once("go=").and_then(|(_, rest)| rest.split('=').next()).map(str::to_owned);
            let is_whole = text.trim_end().ends_with('}') || text.ends_with("0\r\n\r\n");
            if let Some(said) = said.filter(|_| is_whole) {
                let mut parts = said.split('/').filter_map(|part| part.parse::<u64>().ok());
                break (parts.next().unwrap_or(1), parts.next().unwrap_or(1));
            }
            let len = stream.read(&mut buffer).await?;
            if len == 0 {
                return Ok(());
            }
            request.extend_from_slice(&buffer[..len]);
        };
        request.clear();
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
            )
            .await?;
        let begun = tokio::time::Instant::now();
        for at in 0..deltas {
            let said = SAID[at as usize % SAID.len()];
            let now = start.elapsed().as_nanos();
            send(&mut stream, &format!("{{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"@{now}@ {said} \"}},\"finish_reason\":null}}]}}")).await?;
            // Scheduled by the clock and not by the previous delta: otherwise, streams that were late together stay together.
            tokio::time::sleep_until(begun + Duration::from_millis(gap) * (at as u32 + 1)).await;
        }
        send(&mut stream, "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}").await?;
        send(&mut stream, "[DONE]").await?;
        stream.write_all(b"0\r\n\r\n").await?;
    }
}

async fn send(stream: &mut TcpStream, data: &str) -> std::io::Result<()> {
    let event = format!("data: {data}\n\n");
    stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await
}
