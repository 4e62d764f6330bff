// Fails unless the results in all files apply the same rules.

import fs from "node:fs";

const [first, ...others] = process.argv.slice(2).map((file) => {
  const { applied } = JSON.parse(fs.readFileSync(file, "utf8"));
  return applied.map(({ source }) => source).sort();
});
for (const other of others) {
  const differ = [...first.filter((rule) => !other.includes(rule)), ...other.filter((rule) => !first.includes(rule))];
  if (differ.length > 0) {
    console.error(`not the same rules: ${differ.slice(0, 5).join(", ")}`);
    process.exit(1);
  }
}
console.log(`the same ${first.length} rules apply`);
