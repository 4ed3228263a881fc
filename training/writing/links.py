"""Noun phrases that lead from one thing to another, by the kinds of both: `{s}` is the thing they start from."""

# ruff: noqa: E501  # tables

from typing import Final

_TABLE = """
film > person: the director of {s}; {s}'s director; the person who directed {s}; the man who directed {s}; the director of the film {s}; the composer of {s}; the person who composed the music for {s}; the producer of {s}; the screenwriter of {s}; the person who wrote the screenplay for {s}; the star of {s}; the actor who stars in {s}; the filmmaker behind {s}; the lead actress of {s}; the cinematographer of {s}; the person who produced {s}; the director of film {s}; the composer of film {s}
film > company: the studio that produced {s}; the company that distributed {s}; the distributor of {s}; {s}'s production company
film > country: the country of origin of {s}; the country {s} is from; the country where {s} was filmed
film > book: the novel that {s} is based on; the book {s} is based on
song > person: the performer of {s}; the singer of {s}; the person who wrote {s}; the artist who recorded {s}; the person who sang {s}; {s}'s performer; the performer of the song {s}; the composer of {s}; the performer of song {s}; the producer of {s}
song > band: the band that recorded {s}; the group that performed {s}; the band who released {s}; the band behind {s}
song > album: the album that includes {s}; the album that contains {s}; the album {s} is from
album > person: the performer of {s}; the artist who recorded {s}; the producer of {s}; {s}'s producer; the person who produced {s}
album > band: the band that released {s}; the group that recorded {s}; {s}'s performer
album > company: the record label of {s}; the label that released {s}; {s}'s label
band > person: the lead singer of {s}; the drummer of {s}; the founder of {s}; {s}'s lead singer; {s}'s guitarist; the person who founded {s}; the manager of {s}; the bassist of {s}
band > city: the city where {s} was formed; the city {s} is from; the hometown of {s}
band > company: the record label of {s}; {s}'s record label
book > person: the author of {s}; {s}'s author; the person who wrote {s}; the writer of {s}; the woman who wrote {s}; the novelist who wrote {s}; the illustrator of {s}; the protagonist of {s}; the translator of {s}
book > company: the publisher of {s}; the company that published {s}; {s}'s publisher
series > person: the creator of {s}; {s}'s creator; the presenter of {s}; the host of {s}; the person who created {s}; the actor who stars in {s}; the composer of {s}
series > company: the network that broadcasts {s}; the original network of {s}; the channel that aired {s}; the studio that produced {s}
person > person: the father of {s}; the mother of {s}; {s}'s father; {s}'s mother; the wife of {s}; {s}'s wife; the husband of {s}; {s}'s husband; the spouse of {s}; {s}'s spouse; the brother of {s}; {s}'s sister; the son of {s}; {s}'s daughter; the person who married {s}; the child of {s}; the successor of {s}; {s}'s predecessor; the mentor of {s}; the teacher of {s}; the person who succeeded {s}; the woman who married {s}; the doctor who treated {s}
person > city: the birthplace of {s}; the city where {s} was born; {s}'s birthplace; the city where {s} died; the town where {s} was born; the place where {s} was buried; the place of birth of {s}; {s}'s hometown; the place where {s} was born; the city in which {s} was raised; the place of death of {s}; {s}'s place of death
person > country: the country {s} is from; the country where {s} was born; the country of citizenship of {s}; the home country of {s}
person > university: the university where {s} was educated; the alma mater of {s}; {s}'s alma mater; the school that educated {s}; the university {s} was a professor at
person > company: the employer of {s}; {s}'s employer; the company {s} founded; the company that employed {s}; the company founded by {s}
person > team: the team that drafted {s}; the club {s} played for; {s}'s current team; the team that signed {s}
person > party: the political party of {s}; {s}'s party; the party led by {s}
person > film: the film directed by {s}; the first film of {s}; the film that starred {s}
person > book: the first novel of {s}; the book written by {s}
company > person: the founder of {s}; {s}'s founder; the person who founded {s}; the CEO of {s}; {s}'s CEO; the chairman of {s}; the owner of {s}; the president of {s}; the man who founded {s}; the current head of {s}; the entrepreneur who started {s}
company > city: the headquarters of {s}; the city where {s} is based; the city where {s} was founded; the city where {s} is headquartered; {s}'s headquarters
company > company: the parent company of {s}; {s}'s parent company; the company that owns {s}; the company that acquired {s}; the owner of {s}; the firm that bought {s}; the largest competitor of {s}; the largest subsidiary of {s}
university > city: the city where {s} is located; the location of {s}; the town where {s} is
university > person: the founder of {s}; the president of {s}; {s}'s founder; the person {s} is named after; the rector of {s}
city > country: the country where {s} is located; the country {s} is in; the country that {s} belongs to; the country of {s}
city > river: the river that flows through {s}; the river on which {s} lies; the main river of {s}
city > state: the state where {s} is located; the province where {s} is located; the county where {s} is located; the county {s} is in; the region {s} belongs to; the district that contains {s}
city > person: the mayor of {s}; {s}'s mayor; the person who founded {s}; the patron saint of {s}; the founder of {s}
city > team: the football club of {s}; the baseball team based in {s}; the team that plays in {s}
state > city: the capital of {s}; {s}'s capital; the largest city in {s}; the county seat of {s}
state > country: the country where {s} is located; the country that {s} is part of
country > city: the capital of {s}; {s}'s capital; the largest city in {s}; the capital city of {s}
country > person: the president of {s}; the prime minister of {s}; the head of state of {s}; the current king of {s}; the first president of {s}; the monarch of {s}; the person who rules {s}
country > country: the country that borders {s} to the east; the largest neighbour of {s}; the country that colonized {s}; the country that invaded {s}
country > currency: the currency of {s}; {s}'s currency; the official currency of {s}
country > language: the official language of {s}; the language spoken in {s}; {s}'s official language
country > river: the longest river in {s}
river > city: the largest city on {s}; the city at the mouth of {s}; the source of {s}
river > country: the country where {s} ends; the country through which {s} flows; the country where {s} is located
river > river: the river that {s} flows into; the main tributary of {s}; the body of water at the mouth of {s}
team > person: the coach of {s}; {s}'s head coach; the captain of {s}; the owner of {s}; the manager of {s}; the person who coaches {s}; the top scorer of {s}; {s}'s captain
team > city: the city where {s} is based; the home city of {s}; the hometown of {s}
team > building: the home stadium of {s}; the stadium where {s} is based; {s}'s home ground
team > team: the team that beat {s} in the final; the main rival of {s}; the team that defeated {s}
building > person: the architect of {s}; the person who designed {s}; {s}'s architect; the owner of {s}; the person {s} is named after; the architect who designed {s}
building > city: the city where {s} is located; the city where {s} was built; the city {s} is in; the town in which {s} is located
building > company: the company that built {s}; the operator of {s}; the company that operates {s}
battle > person: the general who won {s}; the commander who lost {s}; the leader of the losing side at {s}; the person who led the attack in {s}
battle > country: the country that won {s}; the country where {s} was fought
magazine > company: the publisher of {s}; the company that publishes {s}; the owner of {s}
magazine > person: the editor of {s}; the founder of {s}; {s}'s founder; the current editor of {s}
magazine > city: the city where {s} was published; the city where {s} is printed
game > company: the developer of {s}; the publisher of {s}; the company that developed {s}; the studio behind {s}; {s}'s developer
game > person: the designer of {s}; the lead designer of {s}; the composer of {s}; the person who created {s}
invention > person: the inventor of {s}; the person who invented {s}; the scientist who discovered {s}; the discoverer of {s}; the man who invented {s}; the person who first described {s}
invention > country: the country where {s} was invented; the country of origin of {s}
invention > company: the company that first sold {s}; the company that developed {s}; the largest producer of {s}
party > person: the leader of {s}; the founder of {s}; {s}'s chairman; the current leader of {s}
software > company: the company that develops {s}; the vendor of {s}; the maker of {s}; {s}'s vendor; the company that maintains {s}
software > employee: the creator of {s}; the lead developer of {s}; the maintainer of {s}; the person who maintains {s}; the person who is responsible for {s}; the administrator of {s}
software > software: the tool that replaced {s}; the database that {s} uses; the library that {s} depends on; the product that {s} is part of; the service that {s} runs on; the successor of {s}; the framework {s} is based on; the operating system that runs {s}; the predecessor of {s}
software > file: the configuration file of {s}; the file that configures {s}; the log file of {s}; the file where {s} is configured; the file that stores the settings of {s}
software > setting: the setting that controls {s}; the option that enables {s}; the parameter that limits {s}; the setting that disables {s}
software > command: the command that starts {s}; the command that installs {s}; the cmdlet that manages {s}; the command used to update {s}
software > service: the service that handles {s}; the service that hosts {s}; the component that processes {s}
software > server: the server that hosts {s}; the host where {s} is installed; the machine that runs {s}
setting > file: the file that stores {s}; the file where {s} is defined; the file that contains {s}; the configuration file for {s}
setting > command: the command that sets {s}; the command that changes {s}; the command that shows {s}
setting > software: the component that uses {s}; the service that {s} belongs to; the feature controlled by {s}
command > software: the tool that provides {s}; the module that contains {s}; the package that includes {s}
file > software: the program that writes {s}; the service that reads {s}; the tool that generates {s}
service > server: the server where {s} is installed; the host that runs {s}; the node that runs {s}
service > employee: the owner of {s}; the person responsible for {s}; the team lead of {s}; the on-call engineer for {s}
server > employee: the administrator of {s}; the person who maintains {s}; the owner of {s}
server > building: the data center where {s} is located; the room where {s} is installed
device > company: the manufacturer of {s}; the supplier of {s}; the company that makes {s}; {s}'s manufacturer; the vendor of {s}; the company that supplied {s}; the company that repaired {s}
device > employee: the technician who repaired {s}; the operator of {s}; the person who inspected {s}; the person responsible for {s}; the engineer who designed {s}; the technician who serviced {s} last
device > part: the pump that feeds {s}; the valve that controls {s}; the motor that drives {s}; the filter used in {s}; the fuse that protects {s}; the sensor that monitors {s}; the replacement part for {s}
device > building: the building where {s} is installed; the plant where {s} is located; the hall where {s} is installed
part > company: the supplier of {s}; the manufacturer of {s}; the company that makes {s}; the vendor that supplies {s}
part > device: the machine that uses {s}; the device that contains {s}; the assembly that {s} belongs to
project > employee: the manager of {s}; the leader of {s}; {s}'s manager; the person who approved {s}; the person who leads {s}; the project manager of {s}; the sponsor of {s}; the employee responsible for {s}
project > department: the department that runs {s}; the department responsible for {s}; the team working on {s}; the unit that funds {s}
project > company: the client of {s}; the customer who ordered {s}; the contractor for {s}; the supplier for {s}; the company that audits {s}
department > employee: the head of {s}; {s}'s head; the manager of {s}; the person who leads {s}; the contact person for {s}; the assistant of the head of {s}
department > building: the building where {s} is located; the office of {s}
document > employee: the author of {s}; the person who signed {s}; the person who approved {s}; the employee who wrote {s}; the reviewer of {s}; the contact person named in {s}; the person who sent {s}
document > company: the customer of {s}; the supplier named in {s}; the company that issued {s}; the vendor of {s}; the other party of {s}
document > project: the project that {s} belongs to; the project described in {s}
order > company: the customer who placed {s}; the supplier of {s}; the carrier that delivered {s}
order > employee: the person who placed {s}; the employee who processed {s}; the person who approved {s}
order > part: the part ordered in {s}; the product named in {s}
employee > employee: the manager of {s}; the assistant of {s}; the deputy of {s}; {s}'s manager; the person who supervises {s}; the colleague who trained {s}
employee > department: the department where {s} is employed; {s}'s department; the department of {s}; the team that {s} leads
employee > building: the office of {s}; the building of {s}
rule > document: the document that describes {s}; the section that defines {s}; the standard that covers {s}; the chapter on {s}; the policy that governs {s}
rule > department: the department responsible for {s}; the authority that enforces {s}; the committee that approved {s}
"""


def _parsed() -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in _TABLE.strip().splitlines():
        kinds, phrases = line.split(": ", 1)
        start, end = kinds.split(" > ")
        found.setdefault(start, {})[end] = tuple(phrases.split("; "))
    return found


LINKS: Final = _parsed()
"""Phrases by the kind they start from and the kind they lead to."""
