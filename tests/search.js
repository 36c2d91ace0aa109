// Print the pages that Sphinx's own search finds, best first: node search.js FOLDER "words" ...
const fs = require("fs"), vm = require("vm"), path = require("path");
const [folder, ...queries] = process.argv.slice(2);
const element = () => ({ children: [], firstChild: null, dataset: {} });
const world = {
  document: { getElementById: () => null, addEventListener: () => {}, documentElement: element() },
  console, SPHINX_HIGHLIGHT_ENABLED: false, _: (text) => text, _ready: () => {},
};
vm.createContext(world);
world.window = world;
const read = (name) => fs.readFileSync(path.join(folder, name), "utf-8");
for (const name of ["_static/language_data.js", "_static/searchtools.js"])
  vm.runInContext(read(name), world);
vm.runInContext("globalThis.Search = Search;", world);
vm.runInContext(read("searchindex.js"), world);
for (const query of queries) {
  const found = world.Search._performSearch(...world.Search._parseQuery(query)).reverse();
  console.log(JSON.stringify([...new Set(found.map((x) => x[0]))].slice(0, 10)));
}
