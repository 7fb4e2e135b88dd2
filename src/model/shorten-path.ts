const MAX_PIECES = 4;

/** Shortens a path to its part within the project's folder, else to its last pieces. */
export function shortenPath(path: string, project: string | undefined): string {
  const pieces = path.replaceAll("\\", "/").split("/");
  const folder = project === undefined ? -1 : pieces.indexOf(project);
  if (folder >= 0 && folder < pieces.length - 1) return pieces.slice(folder + 1).join("/");
  return pieces.length <= MAX_PIECES ? path : `…/${pieces.slice(-MAX_PIECES + 1).join("/")}`;
}
