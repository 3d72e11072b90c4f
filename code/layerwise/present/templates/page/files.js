"use strict";
// The files that the page holds, packed: figures are drawn from them, and links save them.
const canUnpack = "DecompressionStream" in window;

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(unpacked).json();
}

function drawFigure(place, files, narrow) {
  const text = files[(narrow && place.dataset.narrow) || place.dataset.svg];
  const alone = text.replace(/<style>.*?<\/style>/, ""); // of a file without a page
  const svg = new DOMParser().parseFromString(alone, "image/svg+xml").documentElement;
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-labelledby", `about-${place.closest("figure").id.slice("figure-".length)}`);
  place.classList.toggle("narrow", narrow && "narrow" in place.dataset);
  place.replaceChildren(document.adoptNode(svg));
}

async function offerFiles() {
  const files = await unpack("files");
  const kinds = { csv: "text/csv;charset=utf-8", json: "application/json", svg: "image/svg+xml" };
  for (const link of document.querySelectorAll("a[data-file]")) {
    const name = link.dataset.file;
    const type = kinds[name.split(".").pop()] ?? "text/plain;charset=utf-8";
    link.href = URL.createObjectURL(new Blob([files[name]], { type }));
    link.hidden = false;
  }
  const phone = matchMedia("screen and (max-width: 44rem)");
  const draw = () => {
    for (const place of document.querySelectorAll("[data-svg]")) drawFigure(place, files, phone.matches);
  };
  phone.addEventListener("change", draw);
  draw();
}

const filesOffered = canUnpack ? offerFiles() : Promise.resolve();
