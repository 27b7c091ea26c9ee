"""The posts behind `sleuth ask`: drawn, labelled, learnt from, and tested on."""
