/**
 * The forms in which agents tell a model its working directory: Claude Code and opencode, pi, Codex, Cline. Each has the
 * path as its first group.
 */
const FORMS: readonly RegExp[] = [
  /^[ \t\-*]*(?:Primary |Current )?working directory:[ \t]*(\S[^\n]*)$/im,
  /<cwd>([^<\n]+)<\/cwd>/,
  /^# Current (?:Working Directory|Workspace Directory) \(([^)\n]+)\)/m,
];
const MAX_PATH = 1_000;

/** The project of a request: the working directory that the agent states in one of the texts. */
export function findProject(texts: readonly string[]): string | undefined {
  for (const text of texts) {
    for (const form of FORMS) {
      const path = form
        .exec(text)?.[1]
        ?.trim()
        .replace(/(?<=.)[/\\]+$/, "");
      if (path !== undefined && path.length <= MAX_PATH && isAbsolutePath(path)) return path;
    }
  }
  return undefined;
}

function isAbsolutePath(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}
