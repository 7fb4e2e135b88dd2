import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/program.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTestIf } from "../../support/proof.ts";
import { runHere } from "../support/here.ts";

const hasShell = (name: string) => spawnSync(name, ["-c", "exit 0"]).status === 0;

async function writeScript(shell: string, name: string): Promise<{ path: string; folder: string }> {
  const { code, stdout } = await runHere(["completion", shell]);
  expect(code).toBe(0);
  const folder = testFolder();
  const path = join(folder, name);
  writeFileSync(path, stdout);
  return { path, folder };
}

/** The words that a shell offers for the last word of each line. */
const CASES = [
  ["longhaul rec", ["recall"]],
  ["longhaul task a", ["attach"]],
  ["longhaul config s", ["schema", "set"]],
  ["longhaul gc --v", ["--vacuum"]],
  ["longhaul task run --back", ["--background"]],
] as const;

describe("completion", () => {
  test.skipIf(!hasShell("bash"))("bash completes commands, members, options and paths", async () => {
    const { path, folder } = await writeScript("bash", "longhaul");
    const complete = (line: string) => {
      const words = line.split(" ");
      const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _longhaul; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const out = execFileSync("bash", ["-c", script, "bash", path, ...words], {
        cwd: folder,
        encoding: "utf8",
      });
      return out
        .split("\n")
        .filter((word) => word !== "")
        .sort();
    };
    for (const [line, words] of CASES) expect(complete(line), line).toEqual(words);
    const all = Object.keys(COMMANDS);
    expect(complete("longhaul ")).toEqual([...all, "help"].sort());
    expect(complete("longhaul --store longh")).toEqual(["longhaul"]);
    expect(complete("longhaul --store x gc --dr")).toEqual(["--dry-run"]);
    expect(complete("longhaul sessions --agent l")).toEqual([]);
  });

  proofTestIf(hasShell("fish"))("fish completes commands, members, options and paths", async () => {
    const { path } = await writeScript("fish", "longhaul.fish");
    const script = [
      `source ${path}`,
      ...CASES.map(([line]) => `echo "= ${line}"; complete -C '${line}'`),
    ].join("\n");
    const out = execFileSync("fish", ["--no-config", "-c", script], { encoding: "utf8" });
    for (const [line, words] of CASES) {
      const offered = out.split(`= ${line}\n`)[1]?.split("\n= ")[0] ?? "";
      const found = offered
        .split("\n")
        .map((one) => one.split("\t")[0])
        .filter((one) => one !== "");
      expect(found.sort(), line).toEqual(words);
    }
  });

  proofTestIf(hasShell("zsh"))(
    "zsh completes commands, members and options, with their descriptions",
    async () => {
      const { folder } = await writeScript("zsh", "_longhaul");
      // A pseudo terminal, because zsh completes only in its line editor.
      const script = `
zmodload zsh/zpty
zpty -b shell zsh -f -i
show() { zpty -w shell "$1"; }
show "PROMPT=; fpath=(${folder} $fpath); autoload -Uz compinit && compinit -u -d ${folder}/dump; zstyle ':completion:*' list-prompt ''; LISTMAX=0; stty columns 200; print REA''DY"
repeat 600; do zpty -r -t shell line && [[ "$line" == *READY* ]] && break; sleep 0.05; done
zpty -n -w shell "$1"$'\\t'
all=
repeat 600; do sleep 0.05; while zpty -r -t shell line; do all+="$line"; done; [[ "$all" == *"$2"* ]] && break; done
print -r -- "$all"
zpty -d shell`;
      /** The screen of a shell after a tab, once it shows `awaited`. */
      const complete = (line: string, awaited: string) =>
        spawnSync("zsh", ["-f", "-c", script, "zsh", line, awaited], { encoding: "utf8" }).stdout;
      // The last member, so that the whole list is there.
      expect(complete("longhaul task ", "show ")).toMatch(/attach .*-- /);
      expect(complete("longhaul gc --vac", "--vacuum")).toContain("--vacuum");
    },
  );

  test("an unknown shell is refused", async () => {
    expect((await runHere(["completion", "tcsh"])).code).toBe(2);
  });
});
