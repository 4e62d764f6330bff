// The model's answer, watched as it is typed.
import { h } from "./dom.js";

/** The deltas of what is typed: characters, as text, thinking, or the arguments of a call that writes the file. */
const deltas = (text, kind, path) => {
  if (kind !== "tool") return [...text].map((part) => [kind, part]);
  const input = JSON.stringify({ path, content: text });
  // A call that is still being written has no end yet.
  return [...input.slice(0, -2)].map((part) => ["tool", "1", "write_file", part]);
};

/** What the user sees, up to the interrupt. */
export const watch = (session, input, text, kind, path) => {
  session.turn(input);
  session.begin();
  let shown = "";
  let notice = null;
  for (const [call, ...words] of deltas(text, kind, path)) {
    const step = session[call](...words);
    shown += step.show + step.thinking;
    notice ??= step.notice;
    if (step.retry) return { shown, notice, retry: step.retry };
  }
  return { shown, notice, retry: null };
};

export const watched = ({ shown, notice, retry }, text, kind) => {
  if (!text) return h("p.none", "Nothing is written yet.");
  const held = text.length - shown.length;
  return h("div",
    kind !== "tool" && h("div.seen", h("p.small", "The user sees"), h("pre", { tabindex: "0" }, shown || " ")),
    !retry && kind !== "tool" && held > 0 && h("p.why", `${held} characters are held back until it is certain that they break no rule.`),
    !retry && kind === "tool" && h("p.why", "The call breaks no rule so far. It runs only after the whole answer was watched."),
    notice && h("p.why", notice),
    retry && h("section.interrupt", h("p", h("strong", `Stopped by ${retry.rules.join(", ")}`), kind === "tool" ? ". The call never runs." : "."),
      h("p.small", "The model is asked again with"), h("pre", { tabindex: "0" }, retry.text)));
};
