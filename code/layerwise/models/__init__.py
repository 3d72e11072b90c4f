"""A checkpoint -> hidden states, traces and weight matrices. The only package that runs models.

registry, texts                          which checkpoints there are; statements and prompts
families, blocks                         which parts an architecture has; where its blocks are
checkpoint                               the files of a checkpoint, read once, before its weights
checkpoint_config, checkpoint_tokenizer  what a model says before its weights; what is refused
checkpoint_folder, checkpoint_weights    the files of its weights; tensors held to config.json
other_ways, quantised                    what the owner of a refused model can do; packed weights
load, devices                            loading one; where
passes, probe                            how a model is run; held against its own forward
hub, hub_answers, pickles                getting one; what the hub says; pickles made safetensors
forward, batches, fitting                a pass; what goes through together; out of memory
hidden_states, partial, store            all statements, streamed to disk, resumable
tracing, projections                     one text with everything kept; one weight matrix at a time
replicates, rounding, kernels            noise of the size of rounding; how torch computes
needs, provenance                        what a model takes; what a measurement rests on
token_ids, chat_templates                texts as ids; statements in a chat template
doubtful_texts, peft_objects             what is no text; what peft puts around a model
twins                                    small random stand-ins; `rehearsal/`: texts
"""
