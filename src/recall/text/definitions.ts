const WORD = "[\\p{L}_$][\\p{L}\\p{N}_$]*";

/** Keywords that introduce a definition in the most common languages. */
const DEFINITION = new RegExp(
  `^[ \\t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\\([^)]*\\))?|unsafe|extern|override|inline|data|sealed|declare)[ \\t]+)*` +
    `(?:def|class|function\\*?|fn|func(?:[ \\t]*\\([^)]*\\))?|struct|enum|trait|interface|type|impl|module|namespace|record|object|macro_rules!|const|let|var)[ \\t]+(${WORD})`,
  "gmu",
);
/** Assignments at the left margin define constants in Python and shell. */
const CONSTANT = new RegExp(`^(${WORD})[ \\t]*(?::[^=\\n]{1,40})?=(?!=)`, "gmu");
const MAX_DEFINITIONS = 4_000;

/** The names that a source file defines, in order, without duplicates. */
export function listDefinitions(source: string): string[] {
  const names = new Set<string>();
  for (const pattern of [DEFINITION, CONSTANT]) {
    for (const match of source.matchAll(pattern)) {
      if (names.size >= MAX_DEFINITIONS) return [...names];
      if (match[1] !== undefined) names.add(match[1]);
    }
  }
  return [...names];
}
