import { hostname, userInfo } from "node:os";
import { redactSecrets } from "../../model/secrets/redact-secrets.ts";
import type { CliContext } from "../cli-context.ts";
import type { Finding } from "./finding.ts";

/** Builds a report to paste into an issue: no conversations, no secrets, no names of people or computers. */
export function buildIssueReport(findings: readonly Finding[], context: CliContext): string {
  const hide = createHider(context);
  const rows = findings.map(
    ({ area, level, text, remedy }) =>
      `| ${area} | ${level} | ${hide(remedy === undefined ? text : `${text} (${remedy})`)} |`,
  );
  const set = Object.keys(context.env).filter((name) => name.startsWith("LONGHAUL_"));
  return [
    "## Report of longhaul doctor",
    "",
    "| area | state | finding |",
    "|---|---|---|",
    ...rows,
    "",
    `Variables set (names only): ${set.length === 0 ? "none" : set.sort().join(", ")}`,
    "",
    "## What happened",
    "",
    "(What you did, what you expected, what happened instead.)",
    "",
  ].join("\n");
}

/** Replaces folders, names and secrets of the user in a text. */
function createHider({ home, cwd }: CliContext): (text: string) => string {
  const names = [
    [cwd, "<folder>"],
    [home, "~"],
    [hostname(), "<host>"],
    [findUserName(), "<user>"],
  ] as const;
  return (text) => {
    let hidden = redactSecrets(text).text;
    for (const [name, mark] of names) if (name.length > 1) hidden = hidden.replaceAll(name, mark);
    hidden = hidden.replace(/postgres(?:ql)?:\/\/\S+/gi, "<database>");
    // Session ids may hold the names of people and projects.
    hidden = hidden.replace(/\S+#\d+/g, "<entry>").replace(/@[\w%.-]+\//g, "<person>/");
    return hidden.replace(/\s+/g, " ").replaceAll("|", "\\|");
  };
}

function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
