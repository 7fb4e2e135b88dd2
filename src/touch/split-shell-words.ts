/** A parsed shell command: pipelines that run one after another, each a list of commands, each a list of words. */
type Pipelines = readonly (readonly (readonly string[])[])[];

const QUIET = /^(?:2>\s*\/dev\/null|2>&1)(?=\s|$|[|;&])/;
const UNSURE = /[$`(){}*?<>&[\]#!\\]/;

/**
 * Splits a command into words if that takes no shell. Returns undefined for expansions, globs, redirections other than
 * silenced errors, `||`, and background jobs.
 */
export function splitShellWords(command: string): Pipelines | undefined {
  const pipelines: string[][][] = [[[]]];
  let word: string | undefined;
  const words = () => pipelines.at(-1)?.at(-1) as string[];
  const endWord = () => {
    if (word !== undefined) words().push(word);
    word = undefined;
  };
  for (let at = 0; at < command.length; ) {
    const rest = command.slice(at, at + 40);
    const character = command.charAt(at);
    const quiet = word === undefined ? QUIET.exec(rest) : null;
    if (quiet) {
      at += quiet[0].length;
    } else if (character === "'" || character === '"') {
      const end = command.indexOf(character, at + 1);
      const quoted = command.slice(at + 1, end);
      if (end < 0 || (character === '"' && /[$`\\]/.test(quoted))) return undefined;
      word = (word ?? "") + quoted;
      at = end + 1;
    } else if (rest.startsWith("||")) {
      return undefined;
    } else if (rest.startsWith("&&") || character === ";" || character === "\n") {
      endWord();
      pipelines.push([[]]);
      at += character === "&" ? 2 : 1;
    } else if (character === "|") {
      endWord();
      pipelines.at(-1)?.push([]);
      at++;
    } else if (/\s/.test(character)) {
      endWord();
      at++;
    } else {
      if (UNSURE.test(character)) return undefined;
      word = (word ?? "") + character;
      at++;
    }
  }
  endWord();
  return pipelines.filter((pipeline) => pipeline.some((part) => part.length > 0));
}
