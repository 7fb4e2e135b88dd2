const SMALL = createFormatter(4);
const LARGE = createFormatter(2);

/** Formats an amount with two digits from $1 on, else with four: "$1,204.50", "$0.0371". */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${(Math.abs(dollars) >= 1 ? LARGE : SMALL).format(dollars)}`;
}

function createFormatter(digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
