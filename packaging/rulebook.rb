class Rulebook < Formula
  desc "Shows which rules each coding agent follows for a file, and why"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/rulebook-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL@/rulebook-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/rulebook-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL@/rulebook-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "rulebook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/rulebook"
    fish_completion.install "completions/rulebook.fish"
    zsh_completion.install "completions/_rulebook"
  end

  test do
    (testpath/"AGENTS.md").write "Be brief."
    assert_match "AGENTS.md", shell_output("#{bin}/rulebook explain a.ts")
  end
end
