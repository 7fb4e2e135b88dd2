const FIRST_CAPACITY = 512;
/** Share of the places in use at which the index grows. */
const MAX_LOAD = 0.6;

/** Finds facts by their keys. Keys are hashes, so their lowest bits choose a place; a taken one leads to the next. */
export class FactIndex {
  #keys = new Int32Array(FIRST_CAPACITY);
  /** Numbers of facts plus 1; 0 for a free place. */
  #facts = new Int32Array(FIRST_CAPACITY);
  #size = 0;

  /** The fact with a key; undefined if there is none. */
  find(key: number): number | undefined {
    const fact = this.#facts[this.#findPlace(key)] as number;
    return fact === 0 ? undefined : fact - 1;
  }

  /** Adds a fact with a key that the index does not have. */
  add(key: number, fact: number): void {
    if (this.#size >= this.#keys.length * MAX_LOAD) this.#grow();
    const place = this.#findPlace(key);
    this.#keys[place] = key;
    this.#facts[place] = fact + 1;
    this.#size++;
  }

  /** Removes a key, and moves the ones after it to where they are sought. */
  delete(key: number): void {
    const mask = this.#keys.length - 1;
    let free = this.#findPlace(key);
    if (this.#facts[free] === 0) return;
    this.#size--;
    for (let place = (free + 1) & mask; this.#facts[place] !== 0; place = (place + 1) & mask) {
      const wanted = (this.#keys[place] as number) & mask;
      // It may move unless its search begins after the free place.
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      this.#keys[free] = this.#keys[place] as number;
      this.#facts[free] = this.#facts[place] as number;
      free = place;
    }
    this.#facts[free] = 0;
  }

  /** The place of a key, or the free one where it would be. */
  #findPlace(key: number): number {
    const keys = this.#keys;
    const facts = this.#facts;
    const mask = keys.length - 1;
    let place = key & mask;
    while (facts[place] !== 0 && keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, facts] = [this.#keys, this.#facts];
    this.#keys = new Int32Array(keys.length * 2);
    this.#facts = new Int32Array(keys.length * 2);
    for (let old = 0; old < keys.length; old++) {
      if (facts[old] === 0) continue;
      const place = this.#findPlace(keys[old] as number);
      this.#keys[place] = keys[old] as number;
      this.#facts[place] = facts[old] as number;
    }
  }
}
