/** The title as a part of an address: lower case, words joined by hyphens. */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "-")
    .replace(/^-|-$/g, "");
}

/** The first address of that slug that is not taken yet: `slug`, `slug-2`, `slug-3`, ... */
export function freeSlug(title, taken) {
  const wanted = slug(title);
  let number = 1;
  let found = wanted;
  while (taken.includes(found)) {
    found = `${wanted}-${number}`;
    number += 1;
  }
  return found;
}
