/** Copies a column into a longer one. */
export function growColumn<Column extends Int32Array | Uint16Array | Uint8Array | Float32Array>(
  column: Column,
  length: number,
): Column {
  const longer = new (column.constructor as new (length: number) => Column)(length);
  longer.set(column);
  return longer;
}
