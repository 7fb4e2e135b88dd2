/** Git variables that configure git for this user rather than select a repository. */
const KEPT_VARIABLES =
  /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|TEMPLATE_DIR|SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*|AUTHOR_.*|COMMITTER_.*)$/;

/**
 * Environment changes for our git calls: no variables of a calling git (a hook sets GIT_DIR), no prompts, English
 * output, and no optional locks.
 */
export function buildGitEnvironment(from: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const removed = Object.keys(from).filter((name) => name.startsWith("GIT_") && !KEPT_VARIABLES.test(name));
  return {
    ...Object.fromEntries(removed.map((name) => [name, undefined])),
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    SSH_ASKPASS: "true",
    GIT_SSH_COMMAND: from.GIT_SSH_COMMAND ?? (from.GIT_SSH ? undefined : "ssh -oBatchMode=yes"),
    GIT_EDITOR: "true",
    GIT_PAGER: "cat",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
    LANGUAGE: undefined,
  };
}
